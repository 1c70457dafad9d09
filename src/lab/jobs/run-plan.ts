import { CodeHashes } from "./code.ts";
import { sha256, stableJson } from "./hash.ts";
import { type JobId, type Kinds, Stopped, type Task, type Workers } from "./job.ts";
import type { Plan, PlannedJob } from "./plan.ts";
import { Progress, type ProgressReport } from "./progress.ts";
import type { Store } from "./store.ts";

export interface RunOptions {
  readonly kinds: Kinds;
  readonly store: Store;
  readonly workers: Workers;
  readonly onProgress?: ((report: ProgressReport) => void) | undefined;
  /** Called when the result of a job is in the store. */
  readonly onDone?: ((job: PlannedJob, key: string) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Keys of the results by job. */
export type Keys = ReadonlyMap<JobId, string>;

/** Thrown if a job failed. `cause` is the error of the job. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  readonly job: PlannedJob;

  constructor(job: PlannedJob, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${job.label} failed: ${reason}`, { cause });
    this.job = job;
  }
}

/**
 * Runs the jobs whose results are not in the store. Returns undefined if the signal
 * came before all were done; the next run of the same plan continues.
 *
 * The key of a job contains the digests of the results that it needs, so it is known
 * only when these are done. If changed code gives the same vectors as before, the
 * results that were made of the vectors stay valid.
 */
export async function runPlan(plan: Plan, options: RunOptions): Promise<Keys | undefined> {
  const { kinds, store, workers, signal, onProgress, onDone } = options;
  const jobs = longestFirst(plan.jobs);
  const progress = new Progress(jobs, workers.size);
  const codes = new CodeHashes();
  const keys = new Map<JobId, string>();
  const digests = new Map<JobId, string>();
  const waiting = new Set(jobs);
  const failure = new AbortController();
  const stopped = AbortSignal.any([failure.signal, ...(signal ? [signal] : [])]);
  stopped.addEventListener("abort", () => workers.stop());
  let oneDone = Promise.withResolvers<void>();

  const take = (): PlannedJob | undefined => {
    for (const job of waiting) {
      if (!job.needs.every((need) => digests.has(need))) continue;
      waiting.delete(job);
      return job;
    }
    return undefined;
  };

  const run = async (job: PlannedJob, key: string): Promise<string> => {
    const known = await store.find(key);
    if (known !== undefined) return known;
    progress.begin(job);
    const inputs = Object.fromEntries(job.needs.map((need) => [need, keys.get(need)!]));
    const task: Task = { key, kind: job.kind, spec: job.spec, inputs };
    return runTask(task, store, stopped, () =>
      workers.run(task, (share) => progress.advance(job, share)),
    );
  };

  const work = async (): Promise<void> => {
    while (!stopped.aborted) {
      const job = take();
      if (!job && waiting.size === 0) return;
      if (!job) {
        await oneDone.promise;
        continue;
      }
      try {
        const key = keyOf(job, kinds, codes, digests);
        const digest = await run(job, key);
        keys.set(job.id, key);
        await onDone?.(job, key);
        digests.set(job.id, digest);
        progress.end(job);
      } catch (error) {
        const wasStopped = error instanceof Stopped || stopped.aborted;
        failure.abort();
        if (!wasStopped) throw new JobFailed(job, error);
      } finally {
        oneDone.resolve();
        oneDone = Promise.withResolvers();
      }
    }
  };

  const timer = onProgress && setInterval(() => onProgress(progress.report()), REPORT_EVERY);
  try {
    const ends = await Promise.allSettled(Array.from({ length: workers.size }, work));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  } finally {
    clearInterval(timer);
  }
  return digests.size === jobs.length ? keys : undefined;
}

const REPORT_EVERY = 200; // milliseconds

/** Puts the result of a task into the store, unless another process has done so; returns its digest. */
export function runTask(
  { key }: Task,
  store: Store,
  signal: AbortSignal,
  run: () => ReturnType<Workers["run"]>,
): Promise<string> {
  const work = async () => {
    const known = await store.find(key);
    if (known !== undefined) return known;
    await store.put(key, await run());
    const digest = await store.find(key);
    if (digest === undefined) throw new Error("the result was damaged when it was written");
    return digest;
  };
  return store.exclusively(key, work, signal);
}

export function keyOf(
  { kind, spec, needs }: PlannedJob,
  kinds: Kinds,
  codes: CodeHashes,
  digests: ReadonlyMap<JobId, string>,
): string {
  const inputs = needs.map((need) => [need, digests.get(need)]);
  return sha256(stableJson({ kind, spec, inputs, code: codes.of(kinds[kind]!.code(spec)) }));
}

/** Sorts by the longest chain of work that begins with a job, so that no long chain begins last. */
function longestFirst(jobs: readonly PlannedJob[]): PlannedJob[] {
  const chain = new Map<JobId, number>();
  for (const { id, needs, seconds } of jobs.toReversed()) {
    const own = seconds + (chain.get(id) ?? 0);
    chain.set(id, own);
    for (const need of needs) chain.set(need, Math.max(chain.get(need) ?? 0, own));
  }
  return jobs.toSorted((a, b) => chain.get(b.id)! - chain.get(a.id)!);
}
