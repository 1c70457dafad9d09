import { Calls } from "../../core/processes/calls.ts";
import type { Link } from "../../core/processes/link.ts";
import { Listeners } from "../changes.ts";
import { recordInBatches } from "../sqlite/batch.ts";
import type { SqliteStore } from "../sqlite/sqlite-store.ts";
import type { Change, Store } from "../store.ts";
import { LeaseLost, StoreUnavailable } from "../store-error.ts";

/** A store in another process of this machine. */
export interface RemoteStore {
  readonly store: Store;
  /**
   * Rejects the calls that wait for an answer, because the host has lost them. Sending them again
   * is safe.
   */
  lost(): void;
}

/**
 * Opens the store that a `StoreHost` in another process serves. A call is acknowledged after the
 * host's store has answered, so votes are durable when their promise resolves. Several processes
 * use the same store, as several nodes use one PostgreSQL database.
 */
export function openRemoteStore(link: Link, lane: number): RemoteStore {
  const listeners = new Listeners();
  const calls = new Calls({
    send: (message) => link.send(lane, message),
    handlers: { changed: (change: Change) => listeners.tell(change) },
    errors: [StoreUnavailable, LeaseLost],
  });
  link.receive(lane, (message) => calls.receive(message));
  link.onEnd(() => calls.end(new StoreUnavailable("its process has ended")));
  // The host announces changes to the clients that have called it. After it was opened again, it
  // knows a client from its next call: followers poll every second.
  calls.notify("subscribe");
  const local: Pick<Store, "shared" | "record" | "onChange" | "close"> = {
    shared: true,
    // The rows are made here: events have many small objects, which would be copied to the host.
    record: (events, countedOnly = []) =>
      recordInBatches(
        events,
        countedOnly,
        (batch) => calls.call("recordBatch", batch) as ReturnType<SqliteStore["recordBatch"]>,
      ),
    onChange: (listener) => listeners.add(listener),
    async close() {
      const settled = calls.settled();
      await settled;
      calls.end(new StoreUnavailable("it is closed"));
    },
  };
  const remote = new Map<string, (...args: readonly unknown[]) => Promise<unknown>>();
  const methodNamed = (name: string) => {
    const known = remote.get(name) ?? ((...args) => calls.call(name, ...args));
    remote.set(name, known);
    return known;
  };
  const store = new Proxy(local as Store, {
    // An object with a method "then" would be taken for a promise.
    get: (own, name) =>
      name in own
        ? Reflect.get(own, name)
        : name === "then"
          ? undefined
          : methodNamed(String(name)),
  });
  return {
    store,
    lost: () => calls.reject(new StoreUnavailable("its thread has ended")),
  };
}
