/** The worker thread that has a model, as the thread that asks sees it. */

import { Worker } from "node:worker_threads";
import { InputError } from "../../input/input-error.ts";
import { moduleUrl } from "../../input/project.ts";
import type { InferenceOptions } from "./inference.ts";
import { NativeGate } from "./native-gate.ts";

export interface ModelOptions extends InferenceOptions {
  readonly folder: string;
}

export interface WorkerData extends ModelOptions {
  /** That of a NativeGate. */
  readonly gate: Int32Array<SharedArrayBuffer>;
}

export interface Opened {
  readonly name: string;
  readonly dimension: number;
}

/** Texts whose vectors are wanted. Number 0 is the opening of the model, which nobody sends. */
export interface Job {
  readonly id: number;
  readonly texts: readonly string[];
  /** Nobody else works meanwhile: all threads may be used for it. */
  readonly alone: boolean;
}
export const OPENING = 0;
/** In place of a job: finish what came before, and end. */
export const CLOSE = "close";

/** `value` of a job are its vectors, one after another. */
export type Answer =
  | { readonly id: number; readonly value: Value }
  | { readonly id: number; readonly failure: unknown };
type Value = Opened | Float32Array<ArrayBuffer>;

/** The thread is no more, and with it what it was asked for. */
export class ThreadEnded extends Error {
  constructor(cause: unknown) {
    super(
      "the encoder's thread ended before it had answered; help: call again, which starts another",
      { cause },
    );
  }
}

/**
 * Starts the thread when it is first needed, and again after a crash. While it
 * has nothing to do it does not keep the process alive.
 */
export class InferenceWorker {
  readonly #options: ModelOptions;
  readonly #file: URL;
  #thread: Thread | undefined;

  constructor(options: ModelOptions, file = FILE) {
    this.#options = options;
    this.#file = file;
  }

  open(): Promise<Opened> {
    return this.#running().opened;
  }

  async encode(texts: readonly string[], alone: boolean): Promise<Float32Array> {
    const thread = this.#running();
    await thread.opened;
    return thread.encode(texts, alone);
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }

  #running(): Thread {
    if (this.#thread) return this.#thread;
    const thread = new Thread(this.#file, this.#options, () => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    this.#thread = thread;
    return thread;
  }
}

const FILE = moduleUrl(new URL("./transformer.worker.ts", import.meta.url));

class Thread {
  readonly opened: Promise<Opened>;
  readonly #worker: Worker;
  readonly #ended = Promise.withResolvers<void>();
  readonly #jobs = new Map<number, PromiseWithResolvers<Value>>();
  #count = OPENING;
  #isClosing = false;

  /** `onUseless` is called when no job can be given to it any more. */
  constructor(file: URL, options: ModelOptions, onUseless: () => void) {
    const gate = new NativeGate();
    const workerData: WorkerData = { ...options, gate: gate.memory };
    this.#worker = new Worker(file, { workerData });
    this.opened = this.#expect(OPENING) as Promise<Opened>;
    this.opened.catch(onUseless);
    const end = (cause: unknown) => {
      onUseless();
      for (const job of this.#jobs.values()) job.reject(new ThreadEnded(cause));
      this.#jobs.clear();
    };
    const shut = () => gate.shut();
    process.on("exit", shut);
    this.#worker
      .on("message", (answer: Answer) => this.#settle(answer))
      .on("error", end)
      .on("exit", (code) => {
        end(new Error(`exit code ${code}`));
        process.off("exit", shut);
        this.#ended.resolve();
      });
  }

  encode(texts: readonly string[], alone: boolean): Promise<Float32Array> {
    const id = ++this.#count;
    this.#worker.ref();
    this.#worker.postMessage({ id, texts, alone } satisfies Job);
    return this.#expect(id) as Promise<Float32Array>;
  }

  /** Never `terminate()`: see NativeGate. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#worker.ref();
    this.#worker.postMessage(CLOSE);
    await this.#ended.promise;
  }

  #expect(id: number): Promise<Value> {
    const job = Promise.withResolvers<Value>();
    this.#jobs.set(id, job);
    return job.promise;
  }

  #settle(answer: Answer): void {
    const job = this.#jobs.get(answer.id)!;
    this.#jobs.delete(answer.id);
    if ("value" in answer) job.resolve(answer.value);
    else job.reject(received(answer.failure));
    // Who closes it waits for its end, also where it was still opening.
    if (this.#jobs.size === 0 && !this.#isClosing) this.#worker.unref();
  }
}

/** A class of one's own does not survive the way between threads; its fields do. */
export function sendable(error: unknown): unknown {
  return error instanceof InputError ? { ...error } : error;
}

function received(failure: unknown): unknown {
  if (failure instanceof Error) return failure;
  const { file, line, field, problem, remedy } = failure as InputError;
  return new InputError({ file, line, field }, problem, remedy);
}
