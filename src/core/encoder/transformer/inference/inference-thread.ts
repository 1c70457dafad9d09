import { Thread, ThreadEnded } from "../../../threads/thread.ts";
import { NativeGate } from "./native-gate.ts";
import type {
  ModelDescription,
  ModelOptions,
  TransformerMethods,
  WorkerData,
} from "./transformer.worker.ts";

/** A thread that holds a model. It starts when it is first needed, and again after a crash. */
export class InferenceThread {
  readonly #options: ModelOptions;
  readonly #file: URL;
  #thread: Thread<TransformerMethods> | undefined;

  /** `file` is the worker to run; tests replace it. */
  constructor(options: ModelOptions, file = new URL("./transformer.worker.ts", import.meta.url)) {
    this.#options = options;
    this.#file = file;
  }

  open(): Promise<ModelDescription> {
    return this.#running().methods.describe();
  }

  /** Returns the embeddings of the texts, one after another. */
  encode(texts: readonly string[], alone: boolean): Promise<Float32Array> {
    return this.#running().methods.encode(texts, alone);
  }

  /** Asks the thread to end by itself. `terminate()` is never used: see NativeGate. */
  async close(): Promise<void> {
    await this.#thread?.close();
  }

  #running(): Thread<TransformerMethods> {
    if (this.#thread && !this.#thread.isEnded) return this.#thread;
    const gate = new NativeGate();
    const workerData: WorkerData = { ...this.#options, gate: gate.memory };
    const thread = new Thread<TransformerMethods>(this.#file, {
      workerData,
      endedError: (cause) => new ThreadEnded("the encoder's thread", cause),
    });
    const shut = () => gate.shut();
    process.on("exit", shut);
    thread.ended.then(() => process.off("exit", shut));
    this.#thread = thread;
    return thread;
  }
}
