/** The parent's side of a thread: calls the methods that its worker file passes to `serve`. */

import { type ResourceLimits, Worker } from "node:worker_threads";
import { JoustError } from "../errors/joust-error.ts";
import { moduleUrl } from "../input/project.ts";
import { fromPlainError, toPlainError } from "./plain-error.ts";
import { type Message, Moved, OPENING, type Request, type Response } from "./serve.ts";

export interface ThreadOptions {
  readonly workerData?: unknown;
  readonly resourceLimits?: ResourceLimits | undefined;
  /** Receives everything that the worker passes to `emit`. */
  readonly onEvent?: ((event: unknown) => void) | undefined;
  /** Error classes that the methods throw, besides those that `fromPlainError` knows. */
  readonly errors?: Parameters<typeof fromPlainError>[1];
  /**
   * Makes the error of calls that the thread cannot answer any more. The cause is
   * undefined after `close`. Default: ThreadEnded.
   */
  readonly endedError?: ((cause: Error | undefined) => Error) | undefined;
  /** Whether the worker's standard output goes to standard error of the process. */
  readonly stdoutToStderr?: boolean | undefined;
}

/** The thread ended before it had answered. */
export class ThreadEnded extends JoustError {
  override readonly name = "ThreadEnded";

  constructor(thread = "the thread", cause?: Error) {
    super(`${thread} ended before it had answered`, {
      code: "thread_ended",
      hint: "call again, which starts another",
      cause,
    });
  }
}

/** The methods of M, each of which returns a promise. The memory of an argument can be moved. */
export type Remote<M> = {
  readonly [K in keyof M as M[K] extends Method ? K : never]: M[K] extends Method
    ? (...args: Movable<Parameters<M[K]>>) => Promise<Unmoved<Awaited<ReturnType<M[K]>>>>
    : never;
};
type Method = (...args: never[]) => unknown;
type Movable<A extends readonly unknown[]> = { readonly [I in keyof A]: A[I] | Moved<A[I]> };
type Unmoved<T> = T extends Moved<infer V> ? V : T;

/**
 * A worker thread with typed methods. Errors arrive with their class and fields.
 * If the thread crashes, all waiting calls are rejected. The thread keeps the
 * process alive only while it opens and while calls are waiting.
 */
export class Thread<M extends object> {
  readonly methods: Remote<M>;
  /** Settles when the worker has opened or failed to open. */
  readonly opened: Promise<void>;
  /** Resolves when the thread no longer exists. */
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #nextId = OPENING;
  #end: Error | undefined;
  #closing: Promise<void> | undefined;

  /** `file` is the TypeScript source of a module that calls `serve`. */
  constructor(file: URL, options: ThreadOptions = {}) {
    const { workerData, resourceLimits = {}, stdoutToStderr: stdout = false } = options;
    this.#options = options;
    this.#worker = new Worker(moduleUrl(file), { workerData, resourceLimits, stdout });
    if (stdout) this.#worker.stdout.on("data", (piece: Uint8Array) => process.stderr.write(piece));
    this.opened = this.#expect(this.#nextId++) as Promise<void>;
    this.opened.catch(() => {});
    this.ended = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    this.#worker
      .on("message", (message: Message) => this.#receive(message))
      .on("error", (error) => this.#fail(this.#endedError(error as Error)))
      .on("exit", (code) =>
        this.#fail(this.#endedError(code === 0 ? undefined : new Error(`exit code ${code}`))),
      );
    this.methods = new Proxy({} as Remote<M>, {
      // An object with a method "then" would be taken for a promise.
      get: (_, name) =>
        name === "then"
          ? undefined
          : (...args: readonly unknown[]) => this.#call(String(name), args),
    });
  }

  /** Whether the thread accepts no more calls. */
  get isEnded(): boolean {
    return this.#end !== undefined || this.#closing !== undefined;
  }

  /** Ends the thread after the calls that are waiting; rejects if its `onClose` throws. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Ends the thread at once. Do not use it where native code may be running. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  async #close(): Promise<void> {
    if (!this.#end) {
      await this.#send(undefined, []).catch((error: unknown) => {
        if (error !== this.#end) throw error;
      });
      this.#worker.ref();
    }
    await this.ended;
  }

  #call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    if (this.#closing) return Promise.reject(this.#endedError(undefined));
    return this.#send(method, args);
  }

  #send(method: string | undefined, args: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++;
    const values = args.map((arg) => (arg instanceof Moved ? arg.value : arg));
    const memory = args.flatMap((arg) => (arg instanceof Moved ? arg.memory : []));
    this.#worker.postMessage({ id, method, args: values } satisfies Request, memory);
    return this.#expect(id);
  }

  #expect(id: number): Promise<unknown> {
    if (this.#waiting.size === 0) this.#worker.ref();
    const call = Promise.withResolvers<unknown>();
    this.#waiting.set(id, call);
    return call.promise;
  }

  #receive(message: Message): void {
    if ("event" in message) this.#options.onEvent?.(message.event);
    else this.#settle(message);
  }

  #settle(response: Response): void {
    const call = this.#waiting.get(response.id);
    this.#waiting.delete(response.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (!("error" in response)) call?.resolve(response.value);
    else {
      const error = fromPlainError(response.error, this.#options.errors);
      call?.reject(error);
      if (response.id === OPENING) this.#fail(error);
    }
  }

  #fail(error: Error): void {
    this.#end ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#end);
    this.#waiting.clear();
  }

  #endedError(cause: Error | undefined): Error {
    const { endedError, errors } = this.#options;
    const known = cause && fromPlainError(toPlainError(cause), errors);
    return endedError ? endedError(known) : new ThreadEnded(undefined, known);
  }
}
