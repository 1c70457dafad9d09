/** The thread that SQLite runs on. Started by open.ts. */
import { workerData } from "node:worker_threads";
import { emit, serve } from "../../core/threads/serve.ts";
import { SqliteStore } from "./sqlite-store.ts";

let store: SqliteStore | undefined;

serve(
  () => {
    store = new SqliteStore(String(workerData), Date.now);
    store.onChange(emit);
    return store;
  },
  { onClose: () => store?.close() },
);
