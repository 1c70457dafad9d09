import { Worker } from "node:worker_threads";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { moduleUrl } from "../../core/input/project.ts";
import { fromPlainError } from "../../core/threads/plain-error.ts";
import { type Crew, Stopped, type Task } from "./job.ts";
import type { Answer, WorkerData } from "./jobs.worker.ts";

export interface ThreadsOptions {
  readonly threads: number;
  /** Default export: the kinds of jobs, by name. */
  readonly kinds: URL;
  /** The folder of the store. */
  readonly store: string;
  /** Where the files are, by their checksum. */
  readonly files: Readonly<Record<string, string>>;
  readonly places: EncoderPlaces;
}

/**
 * A crew of worker threads. They are never ended from outside, for a thread
 * that is cut off within onnxruntime takes the process with it: each looks at a
 * number that all share, and ends its work by itself.
 */
export class Threads implements Crew {
  readonly size: number;
  readonly #options: ThreadsOptions;
  readonly #stop = new Int32Array(new SharedArrayBuffer(4));
  readonly #all: Worker[] = [];
  readonly #idle: Worker[] = [];

  constructor(options: ThreadsOptions) {
    this.size = options.threads;
    this.#options = options;
  }

  async perform(task: Task): Promise<void> {
    if (Atomics.load(this.#stop, 0) === 1) throw new Stopped();
    const worker = this.#idle.pop() ?? this.#start();
    const answer = await ask(worker, task);
    this.#idle.push(worker);
    if ("error" in answer) throw fromPlainError(answer.error);
    if (answer.state === "stopped") throw new Stopped();
  }

  stop(): void {
    Atomics.store(this.#stop, 0, 1);
  }

  async close(): Promise<void> {
    this.stop();
    await Promise.all(
      this.#all.map((worker) => {
        const ended = new Promise<void>((done) => worker.once("exit", () => done()));
        worker.postMessage(undefined);
        return ended;
      }),
    );
  }

  #start(): Worker {
    const { kinds, store, files, places } = this.#options;
    const workerData: WorkerData = { kinds: kinds.href, store, files, places, stop: this.#stop };
    const worker = new Worker(moduleUrl(new URL("./jobs.worker.ts", import.meta.url)), {
      workerData,
    });
    this.#all.push(worker);
    return worker;
  }
}

function ask(worker: Worker, task: Task): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const ended = (code: number) => reject(new Error(`its worker ended with code ${code}`));
  worker.once("message", resolve).once("error", reject).once("exit", ended);
  worker.postMessage(task);
  return promise.finally(() => {
    worker.off("message", resolve).off("error", reject).off("exit", ended);
  });
}
