import { type Job, type JobId, sha256, stableJson } from "./job.ts";

/** What is known of a job besides what decides its result. */
export interface About {
  /** For people: "fit MiniLM E4, routerbench, run 3". */
  readonly label: string;
  /** About how long it takes one thread. */
  readonly seconds: number;
}

export interface PlannedJob extends Job, About {
  readonly id: JobId;
}

/** Jobs in an order in which each comes after those it needs. The same job added twice is there once. */
export class Plan {
  readonly #jobs = new Map<JobId, PlannedJob>();

  add(job: Job, about: About): JobId {
    const id = sha256(stableJson(job));
    const missing = job.needs.find((need) => !this.#jobs.has(need));
    if (missing !== undefined) throw new RangeError(`${about.label} needs ${missing}, not planned`);
    if (!this.#jobs.has(id)) this.#jobs.set(id, { ...job, ...about, id });
    return id;
  }

  find(id: JobId): PlannedJob {
    const job = this.#jobs.get(id);
    if (!job) throw new RangeError(`${id} is not planned`);
    return job;
  }

  /** A plan of these jobs and of all that they need. */
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
