/** A thread that runs jobs, one at a time. Only threads.ts starts it. */
import { workerData } from "node:worker_threads";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { emit, Moved, serve } from "../../core/threads/serve.ts";
import { contextsWith } from "./context.ts";
import type { Kinds, Task } from "./job.ts";
import { FolderStore } from "./store.ts";

export interface WorkerData {
  /** URL of the module whose default export holds the kinds of jobs. */
  readonly kinds: string;
  readonly store: string | undefined;
  readonly files: Readonly<Record<string, string>>;
  readonly places?: EncoderPlaces | undefined;
  readonly shared: unknown;
  /** Its first number becomes 1 when the jobs must stop. */
  readonly stop: Int32Array<SharedArrayBuffer>;
  /** Whether the thread ends although something in it, such as a timer, would keep it alive. */
  readonly exit: boolean;
}

const { kinds, store, stop, exit, ...rest } = workerData as WorkerData;

async function open() {
  const module = (await import(kinds)) as { readonly default: Kinds };
  const contextOf = contextsWith({
    ...rest,
    store: store === undefined ? undefined : new FolderStore(store),
    stopped: () => Atomics.load(stop, 0) === 1,
    onProgress: emit,
  });
  return {
    async run(task: Task) {
      const context = contextOf(task);
      context.check();
      const result = await module.default[task.kind]!.run(task.spec, context);
      return new Moved(result, result.matrix ? [result.matrix.data.buffer as ArrayBuffer] : []);
    },
  };
}

export type JobMethods = Awaited<ReturnType<typeof open>>;

serve(open, {
  oneAtATime: true,
  // The thread ends itself, because ending it from outside would cut off its last output.
  onClose: () => {
    if (exit) process.exit();
  },
});
