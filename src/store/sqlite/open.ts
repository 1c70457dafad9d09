import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { InputError } from "../../core/input/input-error.ts";
import { moduleUrl } from "../../core/input/project.ts";
import { Listeners } from "../changes.ts";
import type { Change, Store } from "../store.ts";
import { LeaseLost, StoreUnavailable } from "../store-error.ts";

/** What the thread is asked and what it says. */
export interface Call {
  readonly id: number;
  readonly method: Method;
  readonly args: readonly unknown[];
}
export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown }
  | { readonly change: Change };

/** Everything but `shared` and `onChange`, which need no thread. */
const METHODS = [
  "append",
  "learning",
  "controls",
  "head",
  "positionAt",
  "votesOf",
  "routers",
  "routed",
  "decisions",
  "decision",
  "prompt",
  "tallies",
  "spent",
  "acquireLease",
  "renewLease",
  "releaseLease",
  "saveSnapshot",
  "snapshot",
  "snapshotPositions",
  "prune",
  "horizon",
  "keys",
  "saveKey",
  "secret",
  "close",
] as const satisfies readonly Exclude<keyof Store, "shared" | "onChange">[];
export type Method = (typeof METHODS)[number];

/** Opens a SQLite file on a thread of its own: a commit waits for the disk, and requests must not. */
export async function openSqlite(file: string): Promise<Store> {
  const worker = new Worker(moduleUrl(new URL("./sqlite.worker.ts", import.meta.url)), {
    workerData: file,
    // What it makes lives for one batch; more room for it would only grow.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const listeners = new Listeners();
  let gone: Error | undefined;
  let next = 0;
  const fail = (error: Error) => {
    gone = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on("error", (error) => fail(revive(error)));
  worker.on("exit", () => fail(gone ?? new StoreUnavailable("it is closed")));
  // `once` throws what the thread dies of.
  const [{ error }] = (await once(worker, "message")) as [{ readonly error?: unknown }];
  if (error) throw revive(error);
  // From here on an idle store does not keep the program alive; a call under way does.
  worker.unref();
  worker.on("message", (reply: Reply) => {
    if ("change" in reply) return listeners.tell(reply.change);
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (waiting.size === 0) worker.unref();
    if ("error" in reply) call?.reject(revive(reply.error));
    else call?.resolve(reply.value);
  });
  const call = (method: Method, args: readonly unknown[]): Promise<unknown> => {
    if (gone) return Promise.reject(gone);
    const answer = Promise.withResolvers<unknown>();
    if (waiting.size === 0) worker.ref();
    waiting.set(next, answer);
    worker.postMessage({ id: next++, method, args } satisfies Call);
    return answer.promise;
  };
  const methods = METHODS.map((method) => [
    method,
    (...args: readonly unknown[]) => call(method, args),
  ]);
  return {
    ...(Object.fromEntries(methods) as Pick<Store, Method>),
    shared: false,
    onChange: (listener) => listeners.add(listener),
  };
}

/** An error that has crossed threads is a plain one; ours are made again from their fields. */
function revive(error: unknown): Error {
  const { name, message, fields = {} } = error as Partial<SentError>;
  const kind = KINDS.find((known) => known.name === name);
  if (!kind) return error instanceof Error ? error : new Error(String(message ?? error));
  return Object.assign(Object.create(kind.prototype) as Error, { name, message }, fields);
}

const KINDS = [StoreUnavailable, LeaseLost, InputError, RangeError];

/** As the thread sends it. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}
