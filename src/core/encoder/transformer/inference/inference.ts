/** Runs a model in onnxruntime. A run blocks its thread, so this module is used in a worker. */
import type { InferenceSession } from "onnxruntime-node";
import { packTexts } from "../graph/batch.ts";
import { encoderGraph, WORDS } from "../graph/encoder-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { toInt8 } from "../graph/int8.ts";
import { onnxBytes } from "../graph/onnx.ts";
import { forOneText, withFedWords, wordRows } from "../graph/rewrite.ts";
import type { ModelFolder } from "../model/model-folder.ts";
import { loadOnnxruntime, type Onnxruntime, tensorOf } from "../onnxruntime.ts";
import { planBatches } from "./batch-plan.ts";
import type { NativeGate } from "./native-gate.ts";

export interface InferenceOptions {
  /** Whether dense layers use 8 bits. */
  readonly int8: boolean;
  /** Threads among which onnxruntime divides each operator. */
  readonly threads: number;
}

export interface Inference {
  readonly dimension: number;
  /** Returns the embeddings of the texts, one after another. `alone`: no other thread is busy. */
  encode(texts: readonly string[], alone: boolean): Promise<Float32Array<ArrayBuffer>>;
  release(): Promise<void>;
}

/** Opens a model. Frees its weights, so that the model cannot be used afterwards. */
export async function openInference(
  model: ModelFolder,
  options: InferenceOptions,
  gate: NativeGate,
): Promise<Inference> {
  const { architecture, pooling, tokenizer, maxLength, prefix } = model;
  const dimension = architecture.hiddenSize;
  const onnxruntime = await loadOnnxruntime();
  const { words, alone, together } = await openSessions(onnxruntime, model, options, gate);
  const limits = options.int8 ? ONE_BY_ONE : TOGETHER;

  return {
    dimension,
    async encode(texts, isAlone) {
      const ids = texts.map((text) => tokenizer.encode(prefix + text, maxLength));
      const vectors = new Float32Array(texts.length * dimension);
      // All runs of a call use one session: the threads of a second one would spin while they wait
      // for work.
      const session = isAlone ? alone : together;
      const lengths = ids.map(({ length }) => length);
      for (const batch of planBatches(lengths, limits)) {
        const chosen = batch.map((k) => ids[k]!);
        const feeds = packTexts(chosen, { architecture, pooling, groups: 1 });
        const { dims, data: rows } = feeds.get("ids")!;
        const data = wordRows(words, rows as Int32Array, dimension);
        feeds.set("words", { dims: [...dims, dimension], data });
        const tensors = [...feeds].map(([name, feed]) => [name, tensorOf(onnxruntime, feed)]);
        const result = await gate.pass(() => session.run(Object.fromEntries(tensors)));
        for (const [row, k] of batch.entries()) {
          const all = result.vectors!.data as Float32Array;
          vectors.set(all.subarray(row * dimension, (row + 1) * dimension), k * dimension);
        }
      }
      return vectors;
    },
    async release() {
      for (const session of new Set([alone, together])) await gate.pass(() => session.release());
    },
  };
}

/**
 * For MiniLM in float32, a run of N tokens takes 4.4 + 0.16 N milliseconds on one
 * thread. At 1024 tokens the time per token rises again, because activations no
 * longer fit into the processor's cache.
 */
const TOGETHER = { overhead: 27, most: 512 };
/** In 8 bits a run holds one text only: see int8.ts. */
const ONE_BY_ONE = { overhead: 0, most: 0 };

interface Sessions {
  /** The table of word embeddings. */
  readonly words: Float32Array;
  /** Session for a single text while no other thread is busy; it is a tenth faster. */
  readonly alone: InferenceSession;
  /**
   * Session for any number of texts. In 8 bits it has one thread, because several
   * inference threads share the cores.
   */
  readonly together: InferenceSession;
}

async function openSessions(
  { InferenceSession }: Onnxruntime,
  { architecture, pooling, normalize, weights }: ModelFolder,
  { int8, threads }: InferenceOptions,
  gate: NativeGate,
): Promise<Sessions> {
  const words = weights.get(WORDS)!.data.slice();
  const { graph, texts } = encoderGraph({ architecture, pooling, normalize, groups: 1, weights });
  graph.output("vectors", texts);
  const open = async (graph: Graph, intraOpNumThreads = threads) => {
    const bytes = onnxBytes(graph);
    const options = { ...SESSION, intraOpNumThreads };
    const session = await gate.pass(() => InferenceSession.create(bytes, options));
    free([bytes]);
    return session;
  };
  const many = withFedWords(graph);
  const one = forOneText(many);
  const rough = int8 ? toInt8(one) : undefined;
  const together = await (rough ? open(rough, 1) : open(many));
  const alone = rough && threads === 1 ? together : await open(rough ?? one);
  free([...weights.values()].map(({ data }) => data));
  return { words, alone, together };
}

/**
 * From level "extended" on, onnxruntime may fuse Add and LayerNormalization into one
 * operator, which takes nine times as long (140 us instead of 16 us for 64 tokens
 * of MiniLM). Memory patterns are kept for every input shape, of which there are
 * thousands.
 */
const SESSION: InferenceSession.SessionOptions = {
  graphOptimizationLevel: "basic",
  enableMemPattern: false,
};

/**
 * Frees arrays of which the sessions have copies. The garbage collector would free
 * them only when memory runs short: 180 MB for MiniLM.
 */
function free(arrays: readonly { readonly buffer: ArrayBufferLike }[]): void {
  for (const { buffer } of arrays) {
    if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
  }
}
