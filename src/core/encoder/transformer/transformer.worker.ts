/** The thread that has the model: opens it, then does job after job. Only inference-worker.ts starts it. */
import { parentPort, workerData } from "node:worker_threads";
import { type Inference, openInference } from "./inference.ts";
import {
  type Answer,
  CLOSE,
  type Job,
  OPENING,
  sendable,
  type WorkerData,
} from "./inference-worker.ts";
import { readModelFolder } from "./model-folder.ts";
import { NativeGate } from "./native-gate.ts";

const port = parentPort!;
const { folder, gate, ...options } = workerData as WorkerData;

try {
  const model = await readModelFolder(folder);
  const inference = await openInference(model, options, new NativeGate(gate));
  const handle = async (message: Job | typeof CLOSE) => {
    if (message !== CLOSE) return work(inference, message);
    await inference.release();
    port.close();
  };
  let last: Promise<void> = Promise.resolve();
  port.on("message", (message) => {
    last = last.then(() => handle(message)); // one after the other: each job has pauses
  });
  send({ id: OPENING, value: { name: model.name, dimension: inference.dimension } });
} catch (error) {
  send({ id: OPENING, failure: sendable(error) });
  port.close();
}

async function work(inference: Inference, { id, texts, alone }: Job): Promise<void> {
  try {
    send({ id, value: await inference.encode(texts, alone) });
  } catch (error) {
    send({ id, failure: sendable(error) });
  }
}

function send(answer: Answer): void {
  const moved = "value" in answer && answer.value instanceof Float32Array;
  port.postMessage(answer, moved ? [answer.value.buffer] : []);
}
