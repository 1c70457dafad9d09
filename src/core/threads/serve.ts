/** The worker's side of a thread: methods that the parent calls through `Thread`. */
import { parentPort, type Transferable } from "node:worker_threads";
import { type PlainError, toPlainError } from "./plain-error.ts";

/** A call of a method, or a request to close the worker if there is no method. */
export interface Request {
  readonly id: number;
  readonly method?: string | undefined;
  readonly args: readonly unknown[];
}

/** The response to the request of the same id. Id 0 reports that the worker has opened. */
export type Response =
  | { readonly id: number; readonly value?: unknown }
  | { readonly id: number; readonly error: PlainError };

export type Message = Response | { readonly event: unknown };

export const OPENING = 0;

export interface ServeOptions {
  /** Whether a call starts only when the previous one has finished. Default: calls overlap. */
  readonly oneAtATime?: boolean | undefined;
  /** Called after the last call and before the thread ends. */
  readonly onClose?: (() => void | Promise<void>) | undefined;
}

/**
 * Opens the worker and serves the methods of the opened object. Calls that arrive
 * earlier wait. If `open` throws, the parent receives the error and the thread
 * ends. After a close request the thread ends by itself, so that its output is
 * not cut off.
 */
export function serve(
  open: () => object | Promise<object>,
  { oneAtATime = false, onClose }: ServeOptions = {},
): void {
  const port = parentPort!;
  const opening = (async () => (await open()) as Methods)();
  const running = new Set<Promise<void>>();
  let last: Promise<unknown> = opening;

  const respond = async (id: number, work: () => Promise<unknown>): Promise<void> => {
    try {
      const value = await work();
      if (value instanceof Moved) port.postMessage({ id, value: value.value }, value.memory);
      else port.postMessage({ id, value } satisfies Message);
    } catch (error) {
      port.postMessage({ id, error: toPlainError(error) } satisfies Message);
    }
  };
  const call = (method: string, args: readonly unknown[], before: Promise<unknown>) => async () => {
    await before;
    return (await opening)[method]!(...args);
  };
  const close = async (id: number): Promise<void> => {
    await Promise.all(running);
    await respond(id, async () => onClose?.());
    port.close();
  };

  port.on("message", ({ id, method, args }: Request) => {
    if (method === undefined) return close(id);
    const done = respond(id, call(method, args, oneAtATime ? last : opening));
    running.add(done);
    done.finally(() => running.delete(done));
    last = done;
  });
  respond(OPENING, async () => void (await opening)).then(() => opening.catch(() => port.close()));
}

type Methods = Record<string, (...args: readonly unknown[]) => unknown>;

/** Sends an event to the parent, which receives it with `onEvent`. */
export function emit(event: unknown): void {
  parentPort!.postMessage({ event } satisfies Message);
}

/** A result or an argument of a method whose memory is moved to the other thread instead of copied. */
export class Moved<T> {
  readonly value: T;
  readonly memory: readonly Transferable[];

  constructor(value: T, memory: readonly Transferable[]) {
    this.value = value;
    this.memory = memory;
  }
}
