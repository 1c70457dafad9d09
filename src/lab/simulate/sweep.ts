import { Worker } from "node:worker_threads";
import { moduleUrl } from "../../core/input/project.ts";
import type { Dataset } from "../data/dataset.ts";
import type { PolicySpec } from "../policies/policy-spec.ts";
import { pack } from "./matrix.ts";
import { Pace } from "./pace.ts";
import type { Run } from "./run.ts";
import { RunFailed } from "./run-failed.ts";
import type { Settings } from "./settings.ts";

/** Every policy on every run. Run r of all policies is the same world, so runs can be paired. */
export interface Sweep {
  readonly dataset: Dataset;
  /** One a query, all of one length; views of one shared block are not copied. */
  readonly embeddings: readonly Float64Array[];
  readonly policies: readonly PolicySpec[];
  readonly settings: Settings;
}

/** One policy on one run: what a worker does at a time. */
export interface Task {
  readonly policy: number;
  readonly run: number;
}

export interface SweepOptions {
  readonly threads: number;
  /** Runs known from before, which are not done again. */
  readonly known?: ((task: Task) => Run | undefined) | undefined;
  readonly onRun?: ((task: Task, run: Run) => void) | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** Undefined before anything is known. */
  readonly millisecondsLeft: number | undefined;
  /** runs[p][r], undefined where not finished. */
  readonly runs: Runs;
}

export type Runs = readonly (readonly (Run | undefined)[])[];

export interface WorkerData extends Omit<Sweep, "embeddings"> {
  /** The embeddings, row after row. */
  readonly matrix: Float64Array;
  readonly slot: number;
  /** rounds[slot]: how far the worker's task is, for the time left. */
  readonly rounds: Int32Array;
}

/**
 * The sweep on worker threads. A run depends on seed, run and policy alone, so
 * the result is the same whatever the number of threads and whoever does what.
 * Aborted, it returns what is finished.
 */
export async function runSweep(sweep: Sweep, options: SweepOptions): Promise<Runs> {
  const { dataset, policies, settings } = sweep;
  const { known, onRun, onProgress, signal } = options;
  const runs = policies.map((_, policy) =>
    Array.from({ length: settings.runs }, (_, run) => known?.({ policy, run })),
  );
  const pace = new Pace(policies.length, settings.rounds, options.threads);
  const waiting = tasksOf(runs);
  const total = policies.length * settings.runs;
  let done = total - waiting.length;
  const threads = Math.min(options.threads, waiting.length);
  const matrix = pack(sweep.embeddings);
  const rounds = new Int32Array(new SharedArrayBuffer(4 * Math.max(1, threads)));
  const failure = new AbortController();
  const stopped = AbortSignal.any([failure.signal, ...(signal ? [signal] : [])]);

  const work = async (slot: number): Promise<void> => {
    const workerData: WorkerData = { dataset, policies, settings, matrix, slot, rounds };
    const worker = new Worker(WORKER, { workerData, resourceLimits: LIMITS, stdout: true });
    // Standard output is the result's; what a policy prints goes beside it.
    worker.stdout.on("data", (piece: Uint8Array) => process.stderr.write(piece));
    worker.on("error", () => {}); // that of a task is answer's; one on the way out is nobody's
    try {
      for (;;) {
        const task = stopped.aborted ? undefined : takeTask(waiting, pace);
        worker.postMessage(task);
        if (!task) return await new Promise<void>((done) => worker.once("exit", done));
        pace.begin(slot, task.policy);
        const run = await answer(worker, stopped).catch((cause: unknown) => {
          throw new RunFailed(policies[task.policy]!, task.run, cause);
        });
        if (!run) return;
        pace.end(slot);
        runs[task.policy]![task.run] = run;
        done++;
        onRun?.(task, run);
      }
    } catch (error) {
      failure.abort();
      throw error;
    } finally {
      await worker.terminate();
    }
  };

  const report = () =>
    onProgress?.({ done, total, runs, millisecondsLeft: pace.left(waiting, rounds) });
  const timer = onProgress && setInterval(report, REPORT_EVERY);
  try {
    await Promise.all(Array.from({ length: threads }, (_, slot) => work(slot)));
  } finally {
    clearInterval(timer);
  }
  return runs;
}

const WORKER = moduleUrl(new URL("./sweep.worker.ts", import.meta.url));
const REPORT_EVERY = 200; // milliseconds

/** A small nursery: half of the memory of a worker, and no slower, at 1e5 rounds of joust. */
const LIMITS = { maxYoungGenerationSizeMb: 8 };

/** Run by run, so that what is finished early can be paired. */
function tasksOf(runs: Runs): Task[] {
  const tasks = runs.flatMap((row, policy) =>
    row.flatMap((known, run) => (known ? [] : [{ policy, run }])),
  );
  return tasks.sort((a, b) => a.run - b.run);
}

/** Of the earliest run the slowest policy: what takes long must not begin last. */
function takeTask(waiting: Task[], pace: Pace): Task | undefined {
  let best = 0;
  for (let i = 1; i < waiting.length && waiting[i]!.run === waiting[0]!.run; i++) {
    if (pace.of(waiting[i]!.policy) > pace.of(waiting[best]!.policy)) best = i;
  }
  return waiting.splice(best, 1)[0];
}

/** The worker's next run; undefined if stopped before. */
function answer(worker: Worker, stopped: AbortSignal): Promise<Run | undefined> {
  const listening = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<Run | undefined>();
  const ended = (code: number) => reject(new Error(`its worker ended with code ${code}`));
  const stop = () => resolve(undefined);
  worker.once("message", resolve).once("error", reject).once("exit", ended);
  stopped.addEventListener("abort", stop, { signal: listening.signal });
  if (stopped.aborted) stop();
  return promise.finally(() => {
    worker.off("message", resolve).off("error", reject).off("exit", ended);
    listening.abort();
  });
}
