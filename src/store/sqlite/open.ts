import { Moved } from "../../core/threads/serve.ts";
import { Thread } from "../../core/threads/thread.ts";
import { Listeners } from "../changes.ts";
import type { Change, Store } from "../store.ts";
import { LeaseLost, StoreUnavailable } from "../store-error.ts";
import { recordInBatches } from "./batch.ts";
import type { SqliteStore } from "./sqlite-store.ts";

/** Opens a SQLite file on a thread of its own, because a commit waits for the disk and requests must not. */
export async function openSqlite(file: string): Promise<Store> {
  const listeners = new Listeners();
  const thread = new Thread<SqliteStore>(new URL("./sqlite.worker.ts", import.meta.url), {
    workerData: file,
    // The thread's objects live for one batch; a larger nursery would only grow.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
    onEvent: (change) => listeners.tell(change as Change),
    errors: [StoreUnavailable, LeaseLost],
    endedError: (cause) => cause ?? new StoreUnavailable("it is closed"),
  });
  await thread.opened;
  const local: Pick<Store, "shared" | "record" | "onChange" | "close"> = {
    shared: false,
    record: (events, countedOnly = []) =>
      recordInBatches(events, countedOnly, (batch) =>
        thread.methods.recordBatch(new Moved(batch, [batch.vectors.buffer as ArrayBuffer])),
      ),
    onChange: (listener) => listeners.add(listener),
    close: () => thread.close(),
  };
  return new Proxy(local as Store, {
    get: (own, name) => Reflect.get(name in own ? own : thread.methods, name),
  });
}
