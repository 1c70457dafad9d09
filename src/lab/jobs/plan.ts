import { sha256, stableJson } from "./hash.ts";
import type { Job, JobId } from "./job.ts";

/** Facts about a job that do not decide its result. */
interface About {
  /** For people: "fit MiniLM E4, routerbench, run 3". */
  readonly label: string;
  /** Estimated time on one thread, or any number in proportion to it. */
  readonly seconds: number;
  /** Name of a group of jobs whose estimates are wrong by the same factor. By default the kind of the job. */
  readonly pace?: string | undefined;
}

export interface PlannedJob extends Job, About {
  readonly id: JobId;
}

/** Jobs in an order in which each comes after those that it needs. Equal jobs are kept once. */
export class Plan {
  readonly #jobs = new Map<JobId, PlannedJob>();

  /** A job needs every job of the plan whose id stands in its spec. */
  add(kind: string, spec: unknown, about: About): JobId {
    const id = sha256(stableJson({ kind, spec }));
    if (!this.#jobs.has(id)) {
      const needs = [...new Set(stringsIn(spec).filter((text) => this.#jobs.has(text)))];
      this.#jobs.set(id, { kind, spec, needs, ...about, id });
    }
    return id;
  }

  find(id: JobId): PlannedJob {
    const job = this.#jobs.get(id);
    if (!job) throw new RangeError(`${id} is not planned`);
    return job;
  }

  /** A plan of these jobs and of everything that they need. */
  only(ids: readonly JobId[]): Plan {
    const wanted = new Set(ids);
    for (const { id, needs } of this.jobs.reverse()) {
      if (wanted.has(id)) for (const need of needs) wanted.add(need);
    }
    const plan = new Plan();
    for (const job of this.jobs) if (wanted.has(job.id)) plan.#jobs.set(job.id, job);
    return plan;
  }

  get jobs(): PlannedJob[] {
    return [...this.#jobs.values()];
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}
