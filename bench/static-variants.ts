/** Variants of the static encoder: other tables, other sums of token vectors, other training. */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { TrainableRows } from "../src/core/calibrate/fine-tune-static.ts";
import { batchesOf, type Pair, pairsOf } from "../src/core/calibrate/pairs.ts";
import { principalAxes, project, tokenFrequencies } from "../src/core/encoder/static/distill.ts";
import { StaticEncoder } from "../src/core/encoder/static/static-encoder.ts";
import type { StaticTable } from "../src/core/encoder/static/static-table.ts";
import { packTexts } from "../src/core/encoder/transformer/graph/batch.ts";
import { encoderGraph } from "../src/core/encoder/transformer/graph/encoder-graph.ts";
import { onnxBytes } from "../src/core/encoder/transformer/graph/onnx.ts";
import type { ModelFolder } from "../src/core/encoder/transformer/model/model-folder.ts";
import { axpy, dot, norm, normalized } from "../src/core/linalg/linalg.ts";
import { Random } from "../src/core/random/random.ts";
import type { Draw, Embed } from "./category-accuracy.ts";

/** Options of a table of token vectors. */
export interface TableOptions {
  /** 0 is the input of the first layer; 6 is the output of MiniLM's last layer. */
  readonly layer: number;
  /** Whether tokens are weighted by their estimated frequency (Zipf's law) or equally. */
  readonly axes: "weighted" | "unweighted";
  /** Exponent in eighths, as in `project`. */
  readonly flatten: number;
  readonly dimension: number;
}

export const BUNDLED: TableOptions = { layer: 0, axes: "weighted", flatten: 3, dimension: 256 };

/** Makes tables. Results that several tables share are computed once. */
export class TableMaker {
  readonly #model: ModelFolder;
  readonly #vectors = new Map<number, Float64Array>();
  readonly #axes = new Map<string, ReturnType<typeof principalAxes>>();

  constructor(model: ModelFolder) {
    this.#model = model;
  }

  get tokenizer(): StaticTable["tokenizer"] {
    const { before: _, after: __, ...settings } = this.#model.tokenizer.settings;
    return settings;
  }

  /** Returns a table with one row per token, in float64. */
  async make({ layer, axes: kind, flatten, dimension }: TableOptions): Promise<Float64Array> {
    const vectors = await this.#vectorsOf(layer);
    const frequencies = tokenFrequencies(this.tokenizer);
    const rows = {
      vectors,
      d: this.#model.architecture.hiddenSize,
      weights: kind === "weighted" ? frequencies : frequencies.fill(1),
    };
    const key = `${layer} ${kind}`;
    const axes = this.#axes.get(key) ?? principalAxes(rows);
    this.#axes.set(key, axes);
    return project(rows, axes, dimension, flatten);
  }

  /** Returns the vectors of a layer minus their mean, in the model's own axes. */
  async centred(layer: number): Promise<Float64Array> {
    const vectors = await this.#vectorsOf(layer);
    const d = this.#model.architecture.hiddenSize;
    const weights = tokenFrequencies(this.tokenizer);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const mean = new Float64Array(d);
    for (const [token, weight] of weights.entries()) {
      axpy(weight / total, vectors.subarray(token * d, (token + 1) * d), mean);
    }
    return vectors.map((value, i) => value - mean[i % d]!);
  }

  /** Runs each token alone, `[CLS] t [SEP]`, through `layer` layers and takes the mean of the three outputs. */
  async #vectorsOf(layer: number): Promise<Float64Array> {
    const known = this.#vectors.get(layer);
    if (known) return known;
    const { weights, tokenizer } = this.#model;
    const architecture = { ...this.#model.architecture, layers: layer };
    const [before, after] = [tokenizer.settings.before, tokenizer.settings.after];
    const shape = { architecture, pooling: "mean", groups: 1 } as const;
    const { graph, texts } = encoderGraph({ ...shape, normalize: false, weights });
    graph.output("texts", texts);
    const session = await InferenceSession.create(onnxBytes(graph));
    const d = architecture.hiddenSize;
    const out = new Float64Array(tokenizer.vocabSize * d);
    for (let first = 0; first < tokenizer.vocabSize; first += CHUNK) {
      const ids = Array.from({ length: Math.min(CHUNK, tokenizer.vocabSize - first) }, (_, i) => [
        ...before,
        first + i,
        ...after,
      ]);
      const feeds = [...packTexts(ids, shape)].map(([name, { dims, data }]) => [
        name,
        data instanceof Int32Array
          ? new Tensor("int32", data, dims)
          : new Tensor("float32", data, dims),
      ]);
      const { texts: rows } = await session.run(Object.fromEntries(feeds));
      out.set(rows!.data as Float32Array, first * d);
    }
    await session.release();
    this.#vectors.set(layer, out);
    return out;
  }
}

const CHUNK = 256;

/** How the vectors of a text's tokens are added. */
export interface Sum {
  /** Weight of a token that occurs n times. */
  readonly count?: ((n: number) => number) | undefined;
  /** Weight of a token. */
  readonly weight?: ((token: number) => number) | undefined;
  /** Replaces a token by another one before its vector is added. */
  readonly alias?: ((token: number) => number) | undefined;
  /** Weight of pairs of neighbouring tokens, each hashed to a coordinate. */
  readonly pairs?: number | undefined;
}

export function embedder(
  tokenIds: (text: string) => Int32Array,
  vectors: Float64Array,
  dimension: number,
  { count = () => 1, weight = () => 1, alias = (token) => token, pairs = 0 }: Sum = {},
): Embed {
  return async (texts) =>
    texts.map((text) => {
      const counts = new Map<number, number>();
      const ids = tokenIds(text).map(alias);
      for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
      const x = new Float64Array(dimension);
      for (const [id, n] of counts) {
        const row = vectors.subarray(id * dimension, (id + 1) * dimension);
        axpy(count(n) * weight(id), row, x);
      }
      return pairs === 0 ? normalized(x) : withPairs(normalized(x), ids, pairs);
    });
}

/** Adds hashed pairs of neighbours, as hash.ts does with words. */
function withPairs(x: Float64Array, ids: Int32Array, weight: number): Float64Array {
  const bag = new Float64Array(x.length);
  const met = new Set<number>();
  for (let i = 1; i < ids.length; i++) {
    const hash = Math.imul(Math.imul(ids[i - 1]!, 0x9e3779b1) ^ ids[i]!, 0x85ebca6b) >>> 0;
    if (met.has(hash)) continue;
    met.add(hash);
    bag[(hash >>> 8) % x.length]! += hash & 1 ? 1 : -1;
  }
  axpy(weight / (norm(bag) || 1), bag, x);
  return normalized(x);
}

/**
 * Fits the table so that the sums of texts approximate the teacher's embeddings:
 * least squares by gradient steps from the given table, stopped early.
 */
export function regress(
  vectors: Float64Array,
  dimension: number,
  texts: readonly Int32Array[],
  teacher: readonly Float64Array[],
  passes: number,
): Float64Array {
  const rowOf = (of: Float64Array, token: number) =>
    of.subarray(token * dimension, (token + 1) * dimension);
  const sumOf = (of: Float64Array, tokens: Int32Array) => {
    const x = new Float64Array(dimension);
    for (const token of tokens) axpy(1 / Math.sqrt(tokens.length), rowOf(of, token), x);
    return x;
  };
  const sums = texts.map((tokens) => sumOf(vectors, tokens));
  const along = sums.reduce((sum, x, i) => sum + dot(x, teacher[i]!), 0);
  const scale = along / sums.reduce((sum, x) => sum + dot(x, x), 0);
  const out = vectors.map((value) => scale * value);
  for (let pass = 0; pass < passes; pass++) {
    for (const [i, tokens] of texts.entries()) {
      const off = teacher[i]!.slice();
      axpy(-1, sumOf(out, tokens), off);
      for (const token of tokens) axpy(STEP / Math.sqrt(tokens.length), off, rowOf(out, token));
    }
  }
  return out;
}

/** Share of the distance to a text's target that one step covers. */
const STEP = 0.1;

export interface Training {
  readonly learningRate: number;
  readonly epochs: number;
  /** Adam's second moment: one for the table, or one per weight. */
  readonly moments: "one" | "each";
}

/** Fine-tunes (CCFT) with an optimizer other than the product's, and returns the encoder. */
export function tuneVariant(table: StaticTable, draw: Draw, training: Training): StaticEncoder {
  const random = Random.seeded(1);
  const rows = new TrainableRows(table, draw.offline.texts);
  const pairs = pairsOf(draw.offline.categories, random.split("pairs"));
  const batches = Array.from({ length: training.epochs }, (_, n) =>
    batchesOf(pairs, 16, random.split(n)),
  );
  adam(rows, batches.flat(), training);
  return new StaticEncoder(rows.intoTable(table));
}

function adam(rows: TrainableRows, batches: Pair[][], { learningRate, moments }: Training): void {
  const { values } = rows;
  const mean = new Float64Array(values.length);
  const square = new Float64Array(values.length);
  for (const [step, batch] of batches.entries()) {
    const { gradient } = rows.loss(batch);
    const all = dot(gradient, gradient) / values.length;
    const [bias1, bias2] = [1 - 0.9 ** (step + 1), 1 - 0.999 ** (step + 1)];
    for (let i = 0; i < values.length; i++) {
      const g = gradient[i]!;
      mean[i] = 0.9 * mean[i]! + 0.1 * g;
      square[i] = 0.999 * square[i]! + 0.001 * (moments === "one" ? all : g * g);
      values[i]! -= (learningRate * mean[i]!) / bias1 / (Math.sqrt(square[i]! / bias2) + 1e-8);
    }
  }
}
