import type { JobId } from "./job.ts";
import type { PlannedJob } from "./plan.ts";
import type { PublishedResult } from "./published.ts";

/**
 * Knows which jobs of a plan wait, and which results are in the store or published.
 *
 * A job that must run reads the results that it needs from the store. If such a result is only
 * published, its job waits again and must run too. If it then gives other bits than the
 * published ones (another processor rounds differently), all jobs that were found by its
 * published digest wait again.
 */
export class PlanState {
  /** Digests and keys of the results that are known. */
  readonly digests = new Map<JobId, string>();
  readonly keys = new Map<JobId, string>();
  readonly #jobs: readonly PlannedJob[];
  readonly #dependents: ReadonlyMap<JobId, readonly PlannedJob[]>;
  /** In the order of `#jobs`. */
  #waiting: Set<PlannedJob>;
  readonly #stored = new Set<JobId>();
  /** Jobs whose results must be in the store. */
  readonly #demanded = new Set<JobId>();
  /** Jobs that must run. Their needs must be in the store. */
  readonly #mustRun = new Set<JobId>();

  /** The first of `jobs` that can start is started first. */
  constructor(jobs: readonly PlannedJob[]) {
    this.#jobs = jobs;
    this.#waiting = new Set(jobs);
    const dependents = new Map<JobId, PlannedJob[]>(jobs.map(({ id }) => [id, []]));
    for (const job of jobs) for (const need of job.needs) dependents.get(need)!.push(job);
    this.#dependents = dependents;
  }

  /** True if every result is known. Running jobs may put others back, so it is false while one runs. */
  get isDone(): boolean {
    return this.keys.size === this.#jobs.length;
  }

  /** Takes a job whose needs are known; undefined if there is none now. */
  next(): PlannedJob | undefined {
    for (const job of this.#waiting) {
      const known: { has(id: JobId): boolean } = this.#mustRun.has(job.id)
        ? this.#stored
        : this.digests;
      if (!job.needs.every((need) => known.has(need))) continue;
      this.#waiting.delete(job);
      return job;
    }
    return undefined;
  }

  putBack(...jobs: readonly PlannedJob[]): void {
    for (const job of jobs) this.#waiting.add(job);
    this.#waiting = new Set(this.#jobs.filter((job) => this.#waiting.has(job)));
  }

  /** Whether a published result is enough for this job. */
  accepts({ id }: PlannedJob, { digest }: PublishedResult): boolean {
    if (this.#demanded.has(id)) return false;
    return digest !== undefined || this.#dependents.get(id)!.length === 0;
  }

  /** Records a published result. Returns the jobs that wait again. */
  take({ id }: PlannedJob, key: string, { digest = "" }: PublishedResult): PlannedJob[] {
    return this.#record(id, key, digest);
  }

  /** Records a result in the store. Returns the jobs that wait again. */
  put({ id }: PlannedJob, key: string, digest: string): PlannedJob[] {
    this.#stored.add(id);
    return this.#record(id, key, digest);
  }

  /**
   * Makes the jobs wait whose results this one reads and which are not in the store; the job
   * itself waits for them. Returns the jobs that were done; undefined if the job can run now.
   */
  demand(job: PlannedJob): PlannedJob[] | undefined {
    const missing = job.needs.filter((need) => !this.#stored.has(need));
    if (missing.length === 0) return undefined;
    this.#mustRun.add(job.id);
    const reopened = this.#jobs.filter(
      ({ id }) => missing.includes(id) && !this.#demanded.has(id) && this.keys.has(id),
    );
    for (const id of missing) this.#demanded.add(id);
    for (const { id } of reopened) this.keys.delete(id);
    this.putBack(job, ...reopened);
    return reopened;
  }

  #record(id: JobId, key: string, digest: string): PlannedJob[] {
    const before = this.digests.get(id);
    this.keys.set(id, key);
    this.digests.set(id, digest);
    if (before === undefined || before === digest) return [];
    const reopened = this.#dependents.get(id)!.filter((job) => this.keys.delete(job.id));
    for (const job of reopened) this.#stored.delete(job.id);
    this.putBack(...reopened);
    return reopened;
  }
}
