/** A transformer whose weights can be changed, with the gradient of a contrastive loss. */

import { type Feed, packTexts } from "../graph/batch.ts";
import { POSITIONS, WORDS } from "../graph/encoder-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { type Architecture, weightShapes } from "../model/architecture.ts";
import type { Pooling } from "../model/modules.ts";
import type { Tensor } from "../model/safetensors.ts";
import {
  gradientOf,
  lossGraph,
  seededGraph,
  stepGraph,
  type TrainingGraphOptions,
  vectorsGraph,
} from "./training-graph.ts";
import { type TrainingSessionOptions, TrainingSessions } from "./training-sessions.ts";

export interface TransformerModel {
  readonly architecture: Architecture;
  readonly pooling: Pooling;
  readonly weights: ReadonlyMap<string, Tensor>;
}

/** Two texts, by number, and the cosine that they should have. */
export interface LabelledPair {
  readonly a: number;
  readonly b: number;
  readonly label: number;
}

export interface TrainableEncoderOptions extends TrainingSessionOptions {
  /** That a batch is cut into, each padded to a length of its own. */
  readonly groups?: number | undefined;
  /** Bytes that a batch's activations may take; a batch that needs more goes in parts. */
  readonly memory?: number | undefined;
}

/**
 * Less padding against more and smaller products. Seconds of CPU a step of the
 * golden run, on one thread: 4 groups 1.67, 8 1.50, 12 1.27, 16 1.37.
 */
const GROUPS = 12;
const MEMORY = 2 ** 30;
/** A second forward pass is the price of parts, whatever their size: then they may as well be small. */
const PART = 1 / 4;
/** Texts of a part are alike in length already. */
const PART_GROUPS = 1 / 3;

export class TrainableEncoder {
  /** Copies, to be changed in place. Of the table of words only the rows of words that occur. */
  readonly weights: ReadonlyMap<string, Tensor>;
  /** d loss / d weight, of the same shapes, after `loss`. */
  readonly gradients: ReadonlyMap<string, Tensor>;
  /** Those of one part. */
  #partial: ReadonlyMap<string, Tensor> | undefined;
  readonly #model: TransformerModel;
  readonly #texts: readonly ArrayLike<number>[];
  /** From word to row of the table. */
  readonly #rows: ReadonlyMap<number, number>;
  readonly #groups: number;
  readonly #memory: number;
  readonly #sessions: TrainingSessions;

  /** `texts`, as token ids, are all that pairs will speak of. */
  constructor(
    model: TransformerModel,
    texts: readonly ArrayLike<number>[],
    { groups = GROUPS, memory = MEMORY, ...options }: TrainableEncoderOptions = {},
  ) {
    this.#model = model;
    this.#texts = texts;
    this.#groups = groups;
    this.#memory = memory;
    this.#sessions = new TrainingSessions(options);
    const words = [...new Set(texts.flatMap((ids) => Array.from(ids)))].sort((a, b) => a - b);
    this.#rows = new Map(words.map((word, row) => [word, row]));
    this.weights = this.#copyWeights();
    this.gradients = zerosLike(this.weights);
  }

  /**
   * The loss of these pairs, and `gradients`, as if both sides had been padded
   * to one length each; but a text is encoded once, however often it occurs.
   */
  async loss(pairs: readonly LabelledPair[]): Promise<number> {
    const members = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))];
    const bytes = members.reduce((sum, k) => sum + this.#activationBytes(k), 0);
    const loss =
      bytes <= this.#memory
        ? await this.#whole(members, pairs)
        : await this.#inParts(this.#cut(members), pairs);
    this.#clearPadding();
    return loss;
  }

  /** All weights, as changed; words that do not occur have only decayed, by `decay`. */
  finished(decay: number): Map<string, Tensor> {
    const { data, dims } = this.#model.weights.get(WORDS)!;
    const table = data.map((value) => value * decay);
    this.#eachWord((word, row, width) => {
      const trained = this.weights.get(WORDS)!.data.subarray(row * width, (row + 1) * width);
      table.set(trained, word * width);
    });
    return new Map([...this.weights, [WORDS, { dims, data: table }]]);
  }

  async release(): Promise<void> {
    await this.#sessions.release();
  }

  async #whole(members: readonly number[], pairs: readonly LabelledPair[]): Promise<number> {
    const feeds = [...this.#pack(members, this.#groups), ...pairFeeds(members, pairs)];
    const result = await this.#run(stepGraph, this.#groups, feeds, this.gradients);
    return result("loss")[0]!;
  }

  /** See training-graph.ts. */
  async #inParts(
    parts: readonly (readonly number[])[],
    pairs: readonly LabelledPair[],
  ): Promise<number> {
    const width = this.#model.architecture.hiddenSize;
    const groups = Math.ceil(this.#groups * PART_GROUPS);
    const members = parts.flat();
    const vectors = zeros([members.length, width]);
    let at = 0;
    for (const part of parts) {
      const feeds = [...this.#pack(part, groups)];
      const result = await this.#run(vectorsGraph, groups, feeds);
      vectors.data.set(result("vectors"), at);
      at += part.length * width;
    }
    const feeds = [["vectors", vectors] as const, ...pairFeeds(members, pairs)];
    const result = await this.#run(lossGraph, groups, feeds);
    const seeds = result(gradientOf("vectors"));

    this.#partial ??= zerosLike(this.weights);
    for (const { data } of this.gradients.values()) data.fill(0);
    at = 0;
    for (const part of parts) {
      const size = part.length * width;
      const seed = { dims: [part.length, width], data: seeds.subarray(at, at + size) };
      const feeds = [...this.#pack(part, groups), ["seed", seed] as const];
      await this.#run(seededGraph, groups, feeds, this.#partial);
      for (const [name, { data }] of this.gradients) addTo(data, this.#partial.get(name)!.data);
      at += size;
    }
    return result("loss")[0]!;
  }

  #run(
    build: (options: TrainingGraphOptions) => Graph,
    groups: number,
    feeds: readonly (readonly [string, Feed])[],
    gradients: ReadonlyMap<string, Tensor> = new Map(),
  ) {
    const { architecture, pooling } = this.#model;
    const outputs = [...gradients].map(([name, tensor]) => [gradientOf(name), tensor] as const);
    return this.#sessions.run(
      build.name,
      () => build({ architecture, pooling, groups }),
      new Map<string, Feed>([...this.weights, ...feeds]),
      new Map(outputs),
    );
  }

  #pack(members: readonly number[], groups: number): Map<string, Feed> {
    const { architecture, pooling } = this.#model;
    const texts = members.map((k) => this.#texts[k]!);
    const feeds = packTexts(texts, { architecture, pooling, groups });
    const { dims, data } = feeds.get("ids")!;
    return feeds.set("ids", { dims, data: data.map((word) => this.#rows.get(word)!) });
  }

  /** The shortest texts first, as many as fit. */
  #cut(members: readonly number[]): number[][] {
    const length = (k: number) => this.#texts[k]!.length;
    const parts: number[][] = [];
    let room = 0;
    for (const k of members.toSorted((a, b) => length(a) - length(b))) {
      const bytes = this.#activationBytes(k);
      if (bytes > room) {
        parts.push([]);
        room = this.#memory * PART;
      }
      parts.at(-1)!.push(k);
      room -= bytes;
    }
    return parts;
  }

  /** Of float32 numbers kept for the backward pass: see CHEAP in backward.ts, and the attention weights. */
  #activationBytes(k: number): number {
    const { hiddenSize, intermediateSize, layers, heads } = this.#model.architecture;
    const tokens = this.#texts[k]!.length;
    return 4 * layers * tokens * (6 * hiddenSize + intermediateSize + heads * tokens);
  }

  #copyWeights(): Map<string, Tensor> {
    const names = [...weightShapes(this.#model.architecture).keys()];
    const whole = (name: string) => this.#model.weights.get(name)!;
    const copies = new Map<string, Tensor>();
    for (const name of names) {
      if (name === WORDS) continue;
      copies.set(name, { dims: whole(name).dims, data: whole(name).data.slice() });
    }
    const table = zeros([this.#rows.size, this.#model.architecture.hiddenSize]);
    this.#eachWord((word, row, width) => {
      table.data.set(whole(WORDS).data.subarray(word * width, (word + 1) * width), row * width);
    });
    return copies.set(WORDS, table);
  }

  #eachWord(visit: (word: number, row: number, width: number) => void): void {
    for (const [word, row] of this.#rows) visit(word, row, this.#model.architecture.hiddenSize);
  }

  /** PyTorch does not train the vectors of padding, even where a text spells it out. */
  #clearPadding(): void {
    const { kind, padTokenId, hiddenSize } = this.#model.architecture;
    const clear = (name: string, row: number) =>
      this.gradients.get(name)!.data.fill(0, row * hiddenSize, (row + 1) * hiddenSize);
    const row = this.#rows.get(padTokenId);
    if (row !== undefined) clear(WORDS, row);
    if (kind === "mpnet") clear(POSITIONS, padTokenId);
  }
}

function pairFeeds(members: readonly number[], pairs: readonly LabelledPair[]): [string, Feed][] {
  const row = new Map(members.map((k, i) => [k, i]));
  const dims = [pairs.length];
  return [
    ["left", { dims, data: Int32Array.from(pairs, ({ a }) => row.get(a)!) }],
    ["right", { dims, data: Int32Array.from(pairs, ({ b }) => row.get(b)!) }],
    ["label", { dims, data: Float32Array.from(pairs, ({ label }) => label) }],
  ];
}

function addTo(sum: Float32Array, part: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += part[i]!;
}

function zerosLike(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map([...tensors].map(([name, { dims }]) => [name, zeros(dims)]));
}

function zeros(dims: readonly number[]): Tensor {
  return { dims, data: new Float32Array(dims.reduce((product, dim) => product * dim, 1)) };
}
