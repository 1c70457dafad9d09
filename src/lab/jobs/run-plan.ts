import { codeOf } from "./code.ts";
import { type Crew, type JobId, type Kind, Stopped, sha256, stableJson, type Task } from "./job.ts";
import type { Plan, PlannedJob } from "./plan.ts";
import { Progress, type ProgressReport } from "./progress.ts";
import type { Store } from "./store.ts";

export interface RunOptions {
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly store: Store;
  readonly crew: Crew;
  readonly onProgress?: ((report: ProgressReport) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The keys of all results; false where the signal came before they were complete. */
export type Done = ReadonlyMap<JobId, string> | false;

/** A job that ended in an error, which is the cause. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  constructor(job: PlannedJob, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`${job.label} failed: ${reason}`, { cause });
  }
}

/**
 * Does the jobs whose results are not in the store. A job's key is known when
 * all it needs is done, for it is made of their digests: where changed code
 * gives the same vectors, what was made of them stays valid.
 */
export async function runPlan(plan: Plan, options: RunOptions): Promise<Done> {
  const { store, crew, signal, onProgress } = options;
  const code = codeByKind(options.kinds);
  const jobs = longestFirst(plan.jobs);
  const progress = new Progress(jobs, crew.size);
  const keys = new Map<JobId, string>();
  const digests = new Map<JobId, string>();
  const waiting = new Set(jobs);
  const failure = new AbortController();
  const stopped = AbortSignal.any([failure.signal, ...(signal ? [signal] : [])]);
  stopped.addEventListener("abort", () => crew.stop());
  let wake = Promise.withResolvers<void>();

  const take = (): PlannedJob | undefined => {
    for (const job of waiting) {
      if (!job.needs.every((need) => digests.has(need))) continue;
      waiting.delete(job);
      return job;
    }
    return undefined;
  };

  const work = async (): Promise<void> => {
    while (!stopped.aborted) {
      const job = take();
      if (!job && waiting.size === 0) return;
      if (!job) {
        await wake.promise; // until some job is done
        continue;
      }
      const key = keyOf(job, code, digests);
      try {
        const digest = (await store.find(key)) ?? (await perform(job, key));
        keys.set(job.id, key);
        digests.set(job.id, digest);
        progress.end(job);
      } catch (error) {
        failure.abort();
        if (!(error instanceof Stopped)) throw new JobFailed(job, error);
      } finally {
        wake.resolve();
        wake = Promise.withResolvers();
      }
    }
  };

  const perform = async (job: PlannedJob, key: string): Promise<string> => {
    progress.begin(job);
    const inputs = Object.fromEntries(job.needs.map((need) => [need, keys.get(need)!]));
    const task: Task = { key, kind: job.kind, spec: job.spec, inputs };
    await crew.perform(task);
    const digest = await store.find(key);
    if (digest === undefined) throw new Error("its result is not in the store");
    return digest;
  };

  const timer = onProgress && setInterval(() => onProgress(progress.report()), REPORT_EVERY);
  try {
    const workers = Array.from({ length: crew.size }, work);
    const ends = await Promise.allSettled(workers);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  } finally {
    clearInterval(timer);
  }
  return keys.size === jobs.length ? keys : false;
}

const REPORT_EVERY = 200; // milliseconds

function codeByKind(kinds: RunOptions["kinds"]): (kind: string) => string {
  const known = new Map<string, string>();
  return (kind) => {
    const code = known.get(kind) ?? codeOf(kinds[kind]!.module);
    known.set(kind, code);
    return code;
  };
}

function keyOf(
  { kind, spec, needs }: PlannedJob,
  code: (kind: string) => string,
  digests: ReadonlyMap<JobId, string>,
): string {
  const inputs = needs.map((need) => [need, digests.get(need)]);
  return sha256(stableJson({ kind, spec, inputs, code: code(kind) }));
}

/** By the longest chain of work that begins with a job: what takes long must not begin last. */
function longestFirst(jobs: readonly PlannedJob[]): PlannedJob[] {
  const chain = new Map<JobId, number>();
  for (const { id, needs, seconds } of jobs.toReversed()) {
    const own = seconds + (chain.get(id) ?? 0);
    chain.set(id, own);
    for (const need of needs) chain.set(need, Math.max(chain.get(need) ?? 0, own));
  }
  return jobs.toSorted((a, b) => chain.get(b.id)! - chain.get(a.id)!);
}
