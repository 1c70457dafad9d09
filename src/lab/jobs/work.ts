import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { makeWorkerUtils, run, type WorkerEvents } from "graphile-worker";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { replaceFile } from "../../core/input/replace-file.ts";
import { toPlainError } from "../../core/threads/plain-error.ts";
import { HEARTBEAT_LIMIT, JobDatabase, TASK_NAME } from "./database.ts";
import { filesIn, Stopped, type Task } from "./job.ts";
import { SILENT } from "./remote-workers.ts";
import { runTask } from "./run-plan.ts";
import type { FolderStore } from "./store.ts";
import { Threads } from "./threads.ts";

export interface WorkOptions {
  readonly url: string;
  readonly threads: number;
  readonly kinds: URL;
  /** The local store. It keeps inputs that were fetched and results that were made here. */
  readonly store: FolderStore;
  readonly places: EncoderPlaces;
  readonly signal: AbortSignal;
  /** Called when a task begins and when it ends. */
  readonly onTask?: ((task: Task, state: "begun" | "done" | "failed") => void) | undefined;
}

/**
 * Takes tasks from the queue until the signal comes: fetches their inputs, runs them
 * in threads and returns the results. If this process dies, other workers take its
 * tasks after a while; a task that runs twice gives the same bits.
 */
export async function work(options: WorkOptions): Promise<void> {
  const { url, threads, kinds, store, places, signal, onTask } = options;
  const database = await JobDatabase.open(url);
  const workers = new Threads({ threads, kinds, store: store.folder, places });
  const perform = async (task: Task): Promise<void> => {
    if ((await database.find(task.key)) !== undefined) return;
    onTask?.(task, "begun");
    for (const file of filesIn(task.spec)) {
      const path = store.filePath(file);
      if (!existsSync(path)) await replaceFile(path, await database.getFile(file));
    }
    for (const key of Object.values(task.inputs)) {
      if ((await store.find(key)) === undefined) await store.put(key, await database.get(key));
    }
    await runTask(task, store, signal, () => workers.run(task));
    await database.put(task.key, await store.get(task.key));
    onTask?.(task, "done");
  };
  const handle = async (payload: unknown): Promise<void> => {
    const task = payload as Task;
    try {
      await perform(task);
    } catch (error) {
      // graphile-worker gives a task that throws to another worker.
      if (error instanceof Stopped || signal.aborted) throw error;
      onTask?.(task, "failed");
      await database.putFailure(task.key, toPlainError(error));
    }
  };
  const ids = new Set<string>();
  const events: WorkerEvents = new EventEmitter();
  events.on("worker:create", ({ worker }) => ids.add(worker.workerId));
  const utils = await makeWorkerUtils({ pgPool: database.pool, logger: SILENT });
  await utils.migrate();
  const runner = await run({
    pgPool: database.pool,
    logger: SILENT,
    events,
    concurrency: threads,
    noHandleSignals: true,
    pollInterval: 1000,
    taskList: { [TASK_NAME]: handle },
  });
  const beat = () => database.heartbeat([...ids]).catch(() => {});
  await beat();
  const beating = setInterval(beat, (HEARTBEAT_LIMIT * 1000) / 5);
  const stop = () => {
    workers.stop();
    void runner.stop().catch(() => {});
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await runner.promise;
  } finally {
    clearInterval(beating);
    await workers.close();
    // Tasks that were stopped are free for other workers at once.
    await utils.forceUnlockWorkers([...ids]).catch(() => {});
    await utils.release();
    await database.close();
  }
}
