import { CodeHashes } from "./code.ts";
import { sha256, stableJson } from "./hash.ts";
import { type JobId, type Kinds, Stopped, type Task, type Workers } from "./job.ts";
import type { Plan, PlannedJob } from "./plan.ts";
import { PlanState } from "./plan-state.ts";
import { Progress, type ProgressReport } from "./progress.ts";
import type { Published } from "./published.ts";
import type { Store } from "./store.ts";

export interface RunOptions {
  readonly kinds: Kinds;
  readonly store: Store;
  readonly workers: Workers;
  /** Results that are not computed again. */
  readonly published?: Published | undefined;
  readonly onProgress?: ((report: ProgressReport) => void) | undefined;
  /** Called when the result of a job is in the store or published. */
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
 * Runs the jobs whose results are neither in the store nor published. Returns undefined if the
 * signal came before all were done; the next run of the same plan continues.
 *
 * The key of a job contains the digests of the results that it needs, so it is known
 * only when these are known. If changed code gives the same vectors as before, the
 * results that were made of the vectors stay valid.
 *
 * A large result is published as its digest. That is enough for the keys of the jobs that
 * need it; it is computed only if one of them must run.
 */
export async function runPlan(plan: Plan, options: RunOptions): Promise<Keys | undefined> {
  const { kinds, store, workers, published, signal, onProgress, onDone } = options;
  const jobs = longestFirst(plan.jobs);
  const progress = new Progress(jobs, workers.size);
  const codes = new CodeHashes();
  const state = new PlanState(jobs);
  const failure = new AbortController();
  const stopped = AbortSignal.any([failure.signal, ...(signal ? [signal] : [])]);
  stopped.addEventListener("abort", () => workers.stop());
  let oneDone = Promise.withResolvers<void>();

  const run = async (job: PlannedJob, key: string): Promise<string> => {
    progress.begin(job);
    const inputs = Object.fromEntries(job.needs.map((need) => [need, state.keys.get(need)!]));
    const task: Task = { key, kind: job.kind, spec: job.spec, inputs };
    return runTask(task, store, stopped, () =>
      workers.run(task, (share) => progress.advance(job, share)),
    );
  };

  /** Finds or computes the result of a job. Puts the job back if other jobs must run first. */
  const finish = async (job: PlannedJob): Promise<void> => {
    const key = keyOf(job, kinds, codes, state.digests);
    // A result that this job needs may turn out different from the published one.
    const isOld = () => key !== keyOf(job, kinds, codes, state.digests);
    let digest = await store.find(key);
    if (isOld()) return state.putBack(job);
    const known = digest === undefined ? published?.find(key) : undefined;
    let waitAgain: readonly PlannedJob[];
    if (known && state.accepts(job, known)) {
      waitAgain = state.take(job, key, known);
    } else {
      const demanded = digest === undefined ? state.demand(job) : undefined;
      if (demanded) return progress.reopen(demanded);
      digest ??= await run(job, key);
      if (isOld()) return state.putBack(job);
      waitAgain = state.put(job, key, digest);
    }
    progress.reopen(waitAgain);
    progress.end(job);
    await onDone?.(job, key);
  };

  const work = async (): Promise<void> => {
    while (!stopped.aborted) {
      const job = state.next();
      if (!job && state.isDone) return;
      if (!job) {
        await oneDone.promise;
        continue;
      }
      try {
        await finish(job);
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
  return state.keys.size === jobs.length ? state.keys : undefined;
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
