/** The thread that holds a transformer. Started by inference-thread.ts. */
import { workerData } from "node:worker_threads";
import { Moved, serve } from "../../../threads/serve.ts";
import { readModelFolder } from "../model/model-folder.ts";
import { type InferenceOptions, openInference } from "./inference.ts";
import { NativeGate } from "./native-gate.ts";

export interface ModelOptions extends InferenceOptions {
  readonly folder: string;
}

export interface WorkerData extends ModelOptions {
  /** The memory of a NativeGate. */
  readonly gate: Int32Array<SharedArrayBuffer>;
}

export interface ModelDescription {
  readonly name: string;
  readonly dimension: number;
}

export interface TransformerMethods {
  describe(): ModelDescription;
  /** Embeddings of the texts, one after another. `alone`: no other thread is busy, so use all cores. */
  encode(texts: readonly string[], alone: boolean): Promise<Moved<Float32Array<ArrayBuffer>>>;
}

const { folder, gate, ...options } = workerData as WorkerData;
let release: (() => Promise<void>) | undefined;

serve(
  async (): Promise<TransformerMethods> => {
    const model = await readModelFolder(folder);
    const inference = await openInference(model, options, new NativeGate(gate));
    release = () => inference.release();
    return {
      describe: () => ({ name: model.name, dimension: inference.dimension }),
      async encode(texts, alone) {
        const vectors = await inference.encode(texts, alone);
        return new Moved(vectors, [vectors.buffer]);
      },
    };
  },
  { oneAtATime: true, onClose: () => release?.() },
);
