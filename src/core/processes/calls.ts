import { fromPlainError, type PlainError, toPlainError } from "../threads/plain-error.ts";

/** A call of a method of the other side, its response, or a notice that gets no response. */
export type CallMessage =
  | Call
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PlainError };

interface Call {
  /** Undefined if the caller needs no response. */
  readonly id?: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export interface CallsOptions {
  readonly send: (message: CallMessage) => void;
  /** Methods of this side. A class instance may be passed as well. */
  readonly handlers?: object | undefined;
  /** Error classes that the methods throw, besides those that `fromPlainError` knows. */
  readonly errors?: Parameters<typeof fromPlainError>[1];
}

/**
 * Calls of methods between two processes. Both sides may call. Errors arrive with their class
 * and fields. `send` carries the messages; each message of the other side goes to `receive`.
 */
export class Calls {
  readonly #options: CallsOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #nextId = 1;
  #end: Error | undefined;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Calls a method of the other side. Rejects if the other side ends before it has answered. */
  call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#end) return Promise.reject(this.#end);
    const id = this.#nextId++;
    const call = Promise.withResolvers<unknown>();
    this.#waiting.set(id, call);
    this.#options.send({ id, method, args });
    return call.promise;
  }

  /** Calls a method whose result nobody needs. */
  notify(method: string, ...args: readonly unknown[]): void {
    if (!this.#end) this.#options.send({ method, args });
  }

  receive(message: unknown): void {
    const given = message as CallMessage;
    if ("method" in given) this.#serve(given);
    else {
      const call = this.#waiting.get(given.id);
      this.#waiting.delete(given.id);
      if ("error" in given) call?.reject(fromPlainError(given.error, this.#options.errors));
      else call?.resolve(given.value);
    }
  }

  /** Rejects the calls that wait for an answer. Later calls are possible. */
  reject(error: Error): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const call of waiting) call.reject(error);
  }

  /** Rejects the waiting calls and all later ones. */
  end(error: Error): void {
    this.#end ??= error;
    this.reject(this.#end);
  }

  /** Resolves when no call waits for an answer. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#waiting.values()].map(({ promise }) => promise));
  }

  async #serve({ id, method, args }: Call): Promise<void> {
    const { handlers, send } = this.#options;
    try {
      const target = handlers as Record<string, (...args: readonly unknown[]) => unknown>;
      const value = await target[method]!(...args);
      if (id !== undefined) send({ id, value });
    } catch (error) {
      if (id !== undefined) send({ id, error: toPlainError(error) });
    }
  }
}
