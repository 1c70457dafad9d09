import type { PlannedJob } from "./plan.ts";

export interface ProgressReport {
  readonly done: number;
  readonly total: number;
  /** Undefined before anything is known. */
  readonly millisecondsLeft: number | undefined;
  /** Labels of the running jobs, the longest job first. */
  readonly running: readonly string[];
}

interface Running {
  readonly job: PlannedJob;
  readonly since: number;
  share: number;
}

/** Measures the progress of a plan. Jobs whose results were cached do not count for the pace. */
export class Progress {
  readonly #total: number;
  readonly #size: number;
  readonly #left: Map<string, PlannedJob>;
  readonly #running = new Map<string, Running>();
  /** Time taken and time estimated of the finished jobs, by pace. */
  readonly #finished = new Map<string, Pace>();

  constructor(jobs: readonly PlannedJob[], size: number) {
    this.#total = jobs.length;
    this.#size = size;
    this.#left = new Map(jobs.map((job) => [job.id, job]));
  }

  begin(job: PlannedJob): void {
    this.#running.set(job.id, { job, since: performance.now(), share: 0 });
  }

  /** A running job has done this share of its work. */
  advance(job: PlannedJob, share: number): void {
    const running = this.#running.get(job.id);
    if (running) running.share = share;
  }

  end(job: PlannedJob): void {
    this.#left.delete(job.id);
    const running = this.#running.get(job.id);
    if (!running) return;
    this.#running.delete(job.id);
    const known = this.#finished.get(paceOf(job)) ?? NO_PACE;
    this.#finished.set(
      paceOf(job),
      sum([known, { taken: spent(running), estimated: job.seconds }]),
    );
  }

  /** Jobs that seemed done by their published results must run. */
  reopen(jobs: readonly PlannedJob[]): void {
    for (const job of jobs) this.#left.set(job.id, job);
  }

  report(): ProgressReport {
    const running = [...this.#running.values()].sort((a, b) => b.job.seconds - a.job.seconds);
    const secondsLeft = this.#secondsLeft();
    return {
      done: this.#total - this.#left.size,
      total: this.#total,
      millisecondsLeft: secondsLeft === undefined ? undefined : 1000 * secondsLeft,
      running: running.map(({ job }) => job.label),
    };
  }

  /** Time left if all workers stay busy until the end; at least the time left of the longest running job. */
  #secondsLeft(): number | undefined {
    const paces = this.#paces();
    const all = sum([...paces.values()]);
    if (all.estimated === 0) return undefined;
    let total = 0;
    let longest = 0;
    for (const job of this.#left.values()) {
      const { taken, estimated } = paces.get(paceOf(job)) ?? all;
      const whole = (job.seconds * taken) / estimated;
      const running = this.#running.get(job.id);
      if (!running) total += whole;
      else {
        const { share } = running;
        const rest = share > 0 ? (1 - share) * whole : Math.max(0, whole - spent(running));
        total += rest;
        longest = Math.max(longest, rest);
      }
    }
    return Math.max(total / this.#size, longest);
  }

  /** The pace of finished jobs. If no job of a group has finished, the pace of a running one that reports its share. */
  #paces(): Map<string, Pace> {
    const paces = new Map(this.#finished);
    for (const running of this.#running.values()) {
      const { job, share } = running;
      if (share === 0 || paces.has(paceOf(job))) continue;
      paces.set(paceOf(job), { taken: spent(running), estimated: share * job.seconds });
    }
    return paces;
  }
}

interface Pace {
  readonly taken: number;
  readonly estimated: number;
}

const NO_PACE: Pace = { taken: 0, estimated: 0 };

function sum(paces: readonly Pace[]): Pace {
  return paces.reduce(
    (a, b) => ({ taken: a.taken + b.taken, estimated: a.estimated + b.estimated }),
    NO_PACE,
  );
}

function paceOf({ kind, pace = kind }: PlannedJob): string {
  return pace;
}

function spent({ since }: Running): number {
  return (performance.now() - since) / 1000;
}
