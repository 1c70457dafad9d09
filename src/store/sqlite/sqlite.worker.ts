/** The thread that SQLite runs on. */
import { parentPort, workerData } from "node:worker_threads";
import type { Call, Method, Reply, SentError } from "./open.ts";
import { SqliteStore } from "./sqlite-store.ts";

const port = parentPort!;
const send = (reply: Reply) => port.postMessage(reply);

try {
  const store = new SqliteStore(String(workerData), Date.now);
  store.onChange((change) => send({ change }));
  port.on("message", ({ id, method, args }: Call) => {
    const run = store[method].bind(store) as (...args: readonly unknown[]) => Promise<unknown>;
    run(...args).then(
      (value) => {
        send({ id, value });
        if (method === ("close" satisfies Method)) port.close();
      },
      (error: unknown) => send({ id, error: sent(error) }),
    );
  });
  port.postMessage({});
} catch (error) {
  port.postMessage({ error: sent(error) });
}

function sent(error: unknown): SentError | unknown {
  if (!(error instanceof Error)) return error;
  return { name: error.name, message: error.message, fields: { ...error, stack: error.stack } };
}
