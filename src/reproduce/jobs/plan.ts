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

  get jobs(): PlannedJob[] {
    return [...this.#jobs.values()];
  }
}
