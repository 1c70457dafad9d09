/** One thread of a crew: takes a task at a time, answers when its result is stored. Only threads.ts starts it. */
import { parentPort, workerData } from "node:worker_threads";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { type PlainError, toPlainError } from "../../core/threads/plain-error.ts";
import { type Kind, Stopped, type Task } from "./job.ts";
import { performTask, Workplace } from "./perform.ts";
import { FolderStore } from "./store.ts";

export interface WorkerData {
  /** URL of the module whose default export has the kinds of jobs, by name. */
  readonly kinds: string;
  readonly store: string;
  readonly files: Readonly<Record<string, string>>;
  readonly places: EncoderPlaces;
  /** Its first number is 1 when work is to stop. */
  readonly stop: Int32Array<SharedArrayBuffer>;
}

/** The outcome of a task; its result is in the store. */
export type Answer = { readonly state: "done" | "stopped" } | { readonly error: PlainError };

const { kinds: module, store, files, places, stop } = workerData as WorkerData;
const kinds = import(module) as Promise<{ default: Readonly<Record<string, Kind>> }>;
const workplace = new Workplace({
  store: new FolderStore(store),
  folder: store,
  files,
  places,
  stopped: () => Atomics.load(stop, 0) === 1,
});

parentPort!.on("message", async (task: Task | undefined) => {
  if (!task) {
    parentPort!.close();
    return;
  }
  let answer: Answer;
  try {
    await performTask(task, (await kinds).default, workplace);
    answer = { state: "done" };
  } catch (error) {
    answer = answerTo(error);
  }
  parentPort!.postMessage(answer);
});

function answerTo(error: unknown): Answer {
  if (error instanceof Stopped) return { state: "stopped" };
  return { error: toPlainError(error) };
}
