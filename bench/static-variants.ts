/** What was tried for the static encoder: other tables, other ways to add up a text, other training. */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { TrainableRows } from "../src/core/calibrate/fine-tune-static.ts";
import { batchesOf, type Pair, pairsOf } from "../src/core/calibrate/pairs.ts";
import { principalAxes, project } from "../src/core/encoder/static/principal-axes.ts";
import { StaticEncoder } from "../src/core/encoder/static/static-encoder.ts";
import type { StaticTable } from "../src/core/encoder/static/static-table.ts";
import { tokenFrequencies } from "../src/core/encoder/static/token-frequency.ts";
import { packTexts } from "../src/core/encoder/transformer/graph/batch.ts";
import { encoderGraph } from "../src/core/encoder/transformer/graph/encoder-graph.ts";
import { onnxBytes } from "../src/core/encoder/transformer/graph/onnx.ts";
import type { ModelFolder } from "../src/core/encoder/transformer/model/model-folder.ts";
import { axpy, dot, norm, normalized } from "../src/core/linalg/linalg.ts";
import { Random } from "../src/core/random/random.ts";
import type { Draw, Embed } from "./category-accuracy.ts";

/** How a table is made; the bundled one's choices first. */
export interface Recipe {
  /** 0: what enters the first layer; 6: what leaves MiniLM's last. */
  readonly layer: number;
  /** Axes over tokens as they are met, by Zipf's law, or over the vocabulary evenly. */
  readonly axes: "as met" | "evenly";
  /** Eighths, as in `project`. */
  readonly flatten: number;
  readonly dimension: number;
}

export const BUNDLED: Recipe = { layer: 0, axes: "as met", flatten: 3, dimension: 256 };

/** Tables by recipe; what several share is worked out once. */
export class Kitchen {
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

  /** Float vectors, one row a token. */
  async make({ layer, axes: kind, flatten, dimension }: Recipe): Promise<Float64Array> {
    const vectors = await this.#vectorsOf(layer);
    const met = tokenFrequencies(this.tokenizer);
    const rows = {
      vectors,
      d: this.#model.architecture.hiddenSize,
      weights: kind === "as met" ? met : met.fill(1),
    };
    const key = `${layer} ${kind}`;
    const axes = this.#axes.get(key) ?? principalAxes(rows);
    this.#axes.set(key, axes);
    return project(rows, axes, dimension, flatten);
  }

  /** The vectors of a layer about their mean, in the model's own axes. */
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

  /** Each token alone, `[CLS] t [SEP]`, through so many layers, and the mean of the three. */
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

/** How the vectors of a text's tokens become one. */
export interface Sum {
  /** What n occurrences count. */
  readonly count?: ((n: number) => number) | undefined;
  /** What a token counts. */
  readonly weight?: ((token: number) => number) | undefined;
  /** Another token to take for one. */
  readonly alias?: ((token: number) => number) | undefined;
  /** The weight of pairs of neighbours, each a hashed direction. */
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

/** Feature hashing of neighbours, as hash.ts does with words. */
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
 * The table that, added up over each text, comes near to the teacher's vectors:
 * least squares by passes of gradient steps from the table given, stopped early.
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

/** Of the way to a text's target in one step. */
const STEP = 0.1;

export interface Training {
  readonly learningRate: number;
  readonly epochs: number;
  /** Adam's second moment: one for the table, or one a weight. */
  readonly moments: "one" | "each";
}

/** CCFT with another optimizer than the product's; returns the tuned encoder. */
export function tuneOtherwise(table: StaticTable, draw: Draw, training: Training): StaticEncoder {
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
