import type { PlannedJob } from "./plan.ts";

export interface ProgressReport {
  readonly done: number;
  readonly total: number;
  /** Undefined before anything is known. */
  readonly millisecondsLeft: number | undefined;
  /** What is under way, the longest first. */
  readonly running: readonly string[];
}

/** How far a plan is. Jobs whose results were there take no time and do not count for the pace. */
export class Progress {
  readonly #total: number;
  readonly #size: number;
  readonly #left: Map<string, PlannedJob>;
  readonly #running = new Map<string, { readonly job: PlannedJob; readonly since: number }>();
  /** By kind: seconds taken, and seconds that were expected. */
  readonly #pace = new Map<string, { taken: number; expected: number }>();

  constructor(jobs: readonly PlannedJob[], size: number) {
    this.#total = jobs.length;
    this.#size = size;
    this.#left = new Map(jobs.map((job) => [job.id, job]));
  }

  begin(job: PlannedJob): void {
    this.#running.set(job.id, { job, since: performance.now() });
  }

  end(job: PlannedJob): void {
    this.#left.delete(job.id);
    const begun = this.#running.get(job.id);
    if (!begun) return;
    this.#running.delete(job.id);
    const pace = this.#pace.get(job.kind) ?? { taken: 0, expected: 0 };
    pace.taken += (performance.now() - begun.since) / 1000;
    pace.expected += job.seconds;
    this.#pace.set(job.kind, pace);
  }

  report(): ProgressReport {
    const running = [...this.#running.values()].sort((a, b) => b.job.seconds - a.job.seconds);
    return {
      done: this.#total - this.#left.size,
      total: this.#total,
      millisecondsLeft: this.#pace.size > 0 ? 1000 * this.#secondsLeft() : undefined,
      running: running.map(({ job }) => job.label),
    };
  }

  /** As if all threads were busy to the end, but no sooner than the longest job under way. */
  #secondsLeft(): number {
    let sum = 0;
    let longest = 0;
    for (const job of this.#left.values()) {
      const whole = job.seconds * this.#slowness(job.kind);
      const begun = this.#running.get(job.id);
      const spent = begun ? (performance.now() - begun.since) / 1000 : 0;
      const left = Math.max(0, whole - spent);
      sum += left;
      if (begun) longest = Math.max(longest, left);
    }
    return Math.max(sum / this.#size, longest);
  }

  /** Time taken over time expected, of the kind or else of all. */
  #slowness(kind: string): number {
    const own = this.#pace.get(kind);
    const paces = own ? [own] : [...this.#pace.values()];
    const sum = (of: "taken" | "expected") => paces.reduce((total, pace) => total + pace[of], 0);
    return sum("expected") > 0 ? sum("taken") / sum("expected") : 1;
  }
}
