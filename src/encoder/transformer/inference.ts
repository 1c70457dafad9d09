/** A model and its onnxruntime session. It blocks its thread while it runs, so it lives in a worker. */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { type Feed, packTexts } from "./batch.ts";
import { planBatches } from "./batch-plan.ts";
import { encoderGraph } from "./encoder-graph.ts";
import { toInt8 } from "./int8.ts";
import type { ModelFolder } from "./model-folder.ts";
import type { NativeGate } from "./native-gate.ts";
import { onnxBytes } from "./onnx.ts";

export interface InferenceOptions {
  /** Dense layers in 8 bits. */
  readonly int8: boolean;
  /** That onnxruntime shares an operator out to. */
  readonly threads: number;
}

export interface Inference {
  readonly dimension: number;
  /** The vectors of the texts, one after another. */
  encode(texts: readonly string[]): Promise<Float32Array<ArrayBuffer>>;
  release(): Promise<void>;
}

/** Uses the model up: its weights are gone afterwards. */
export async function openInference(
  model: ModelFolder,
  options: InferenceOptions,
  gate: NativeGate,
): Promise<Inference> {
  const { architecture, pooling, tokenizer, maxLength, prefix } = model;
  const dimension = architecture.hiddenSize;
  const session = await createSession(model, options, gate);
  const limits = options.int8 ? ALONE : TOGETHER;

  return {
    dimension,
    async encode(texts) {
      const ids = texts.map((text) => tokenizer.encode(prefix + text, maxLength));
      const vectors = new Float32Array(texts.length * dimension);
      const lengths = ids.map(({ length }) => length);
      for (const batch of planBatches(lengths, limits)) {
        const chosen = batch.map((k) => ids[k]!);
        const feeds = packTexts(chosen, { architecture, pooling, groups: 1 });
        const { vectors: rows } = await gate.pass(() => session.run(tensorsOf(feeds)));
        const data = rows!.data as Float32Array;
        for (const [row, k] of batch.entries()) {
          vectors.set(data.subarray(row * dimension, (row + 1) * dimension), k * dimension);
        }
      }
      return vectors;
    },
    release: () => gate.pass(() => session.release()),
  };
}

/**
 * In MiniLM's float32 a run of N tokens takes 4.4 + 0.16 N milliseconds of one
 * thread, and at 1024 tokens more a token again: what passes from operator to
 * operator no longer fits the cache.
 */
const TOGETHER = { overhead: 27, most: 512 };
/** See int8.ts. */
const ALONE = { overhead: 0, most: 0 };

async function createSession(
  { architecture, pooling, normalize, weights }: ModelFolder,
  { int8, threads }: InferenceOptions,
  gate: NativeGate,
): Promise<InferenceSession> {
  const { graph, texts } = encoderGraph({ architecture, pooling, normalize, groups: 1, weights });
  graph.output("vectors", texts);
  const bytes = onnxBytes(int8 ? toInt8(graph) : graph);
  const options = { ...SESSION, intraOpNumThreads: threads };
  const session = await gate.pass(() => InferenceSession.create(bytes, options));
  free([bytes, ...weights.values().map(({ data }) => data)]);
  return session;
}

/**
 * The session has its own copy. The garbage collector would come for these only
 * when memory runs short: 180 MB of MiniLM.
 */
function free(arrays: readonly { readonly buffer: ArrayBufferLike }[]): void {
  for (const { buffer } of arrays) {
    if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
  }
}

/**
 * From "extended" on, Add and LayerNormalization may become one operator, which
 * takes nine times as long as the two (140 us and 16, 64 tokens of MiniLM).
 * Memory patterns are kept for every shape ever met, which here are thousands.
 */
const SESSION: InferenceSession.SessionOptions = {
  graphOptimizationLevel: "basic",
  enableMemPattern: false,
};

function tensorsOf(feeds: ReadonlyMap<string, Feed>): Record<string, Tensor> {
  return Object.fromEntries(
    [...feeds].map(([name, { dims, data }]) => [
      name,
      data instanceof Int32Array
        ? new Tensor("int32", data, dims)
        : new Tensor("float32", data, dims),
    ]),
  );
}
