import { EventEmitter } from "node:events";
import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeWorkerUtils, run, type WorkerEvents } from "graphile-worker";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import { filesIn } from "./files.ts";
import { type FileRef, Stopped, type Task } from "./job.ts";
import { JobDatabase, SILENCE, TASK_NAME } from "./job-database.ts";
import { filePath } from "./perform.ts";
import { SILENT } from "./silent-logger.ts";
import type { FolderStore } from "./store.ts";
import { Threads } from "./threads.ts";

export interface WorkOptions {
  readonly url: string;
  readonly threads: number;
  readonly kinds: URL;
  /** The local store: what was fetched or done is kept there. */
  readonly store: FolderStore;
  readonly places: EncoderPlaces;
  readonly signal: AbortSignal;
  /** Called when a task begins and when it is done. */
  readonly onTask?: ((task: Task, state: "begun" | "done" | "failed") => void) | undefined;
}

/**
 * One more machine for a plan: takes tasks from the queue until it is told to
 * stop, fetches what they need, does them in threads of its own and gives the
 * results back. Should it die, others take its tasks after a while; the same
 * task done twice gives the same bits.
 */
export async function work({
  url,
  threads,
  kinds,
  store,
  places,
  signal,
  onTask,
}: WorkOptions): Promise<void> {
  const database = await JobDatabase.open(url);
  const crew = new Threads({ threads, kinds, store: store.folder, files: {}, places });
  const perform = async (task: Task): Promise<void> => {
    if ((await database.find(task.key)) !== undefined) return;
    onTask?.(task, "begun");
    for (const file of filesIn(task.spec)) await fetchFile(store.folder, file, database);
    for (const key of Object.values(task.inputs)) {
      if ((await store.find(key)) === undefined) await store.put(key, await database.get(key));
    }
    if ((await store.find(task.key)) === undefined) await crew.perform(task);
    await database.put(task.key, await store.get(task.key));
    onTask?.(task, "done");
  };
  const handle = async (payload: unknown): Promise<void> => {
    const task = payload as Task;
    try {
      await perform(task);
    } catch (error) {
      // Back into the queue, for others.
      if (error instanceof Stopped || signal.aborted) throw error;
      onTask?.(task, "failed");
      await database.putFailure(task.key, failureOf(error));
    }
  };
  const workers = new Set<string>();
  const events: WorkerEvents = new EventEmitter();
  events.on("worker:create", ({ worker }) => workers.add(worker.workerId));
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
  const beat = () => database.beat([...workers]).catch(() => {});
  await beat();
  const beating = setInterval(beat, (SILENCE * 1000) / 5);
  const stop = () => {
    crew.stop();
    // Those that were stopped are free for others at once.
    void runner.stop().catch(() => {});
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await runner.promise;
  } finally {
    clearInterval(beating);
    await crew.close();
    await utils.forceUnlockWorkers([...workers]).catch(() => {});
    await utils.release();
    await database.close();
  }
}

async function fetchFile(folder: string, file: FileRef, database: JobDatabase): Promise<void> {
  const path = filePath(folder, file);
  const there = await stat(path).then(
    () => true,
    () => false,
  );
  if (there) return;
  const draft = `${path}.${process.pid}.tmp`;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(draft, await database.getFile(file));
  await rename(draft, path);
}

function failureOf(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof InputError)) return { message };
  const { file, line, field, problem, hint } = error;
  return { message, input: { file, line, field, problem, hint } };
}
