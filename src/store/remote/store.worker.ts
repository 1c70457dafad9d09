/** The thread of the SQLite store that several processes use. Started by host-thread.ts. */
import { workerData } from "node:worker_threads";
import { emit, serve } from "../../core/threads/serve.ts";
import { SqliteStore } from "../sqlite/sqlite-store.ts";
import { StoreHost } from "./store-host.ts";

let store: SqliteStore | undefined;
let host: StoreHost | undefined;

const methods = {
  receive: (client: number, payload: Uint8Array) => host!.receive(client, payload),
  remove: (client: number) => host!.remove(client),
};
export type StoreThread = typeof methods;

serve(
  () => {
    store = new SqliteStore(String(workerData), Date.now);
    host = new StoreHost(store, (client, payload) => emit({ client, payload }));
    return methods;
  },
  {
    onClose: async () => {
      host?.close();
      await store?.close();
    },
  },
);
