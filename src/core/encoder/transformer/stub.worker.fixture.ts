/** In place of transformer.worker.ts: a text's vector is its length and the number of the job, and some texts do harm. */
import { parentPort, workerData } from "node:worker_threads";
import { InputError } from "../../input/input-error.ts";
import { CLOSE, type Job, type ModelOptions, OPENING, sendable } from "./inference-worker.ts";

const { folder } = workerData as ModelOptions;
const port = parentPort!;

if (folder === "broken") {
  const failure = new InputError(
    { file: "weights", line: 2, field: "w" },
    "is gone",
    "look for it",
  );
  port.postMessage({ id: OPENING, failure: sendable(failure) });
  port.close();
} else {
  port.postMessage({ id: OPENING, value: { name: folder, dimension: 2 } });
}

port.on("message", (message: Job | typeof CLOSE) => {
  if (message === CLOSE) return port.close();
  const { id, texts } = message;
  if (texts.includes("throw")) throw new Error("thrown");
  if (texts.includes("exit")) process.exit(3);
  if (texts.includes("fail")) port.postMessage({ id, failure: new Error("no such text") });
  else
    port.postMessage({ id, value: Float32Array.from(texts.flatMap(({ length }) => [length, id])) });
});
