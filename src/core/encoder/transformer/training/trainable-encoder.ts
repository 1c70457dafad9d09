/** A transformer with changeable weights, and the gradient of a contrastive loss. */
import { type Feed, packTexts } from "../graph/batch.ts";
import { POSITIONS, WORDS } from "../graph/encoder-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { type Architecture, weightShapes } from "../model/architecture.ts";
import type { Pooling } from "../model/modules.ts";
import { type Tensor, zeros, zerosLike } from "../model/safetensors.ts";
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

/** The indices of two texts and the cosine that their embeddings should have. */
export interface LabelledPair {
  readonly a: number;
  readonly b: number;
  readonly label: number;
}

export interface TrainableEncoderOptions extends TrainingSessionOptions {
  /** Number of groups of a batch, each padded to its own length. */
  readonly groups?: number | undefined;
  /** Bytes for the activations of a batch. A batch that needs more is computed in parts. */
  readonly memory?: number | undefined;
}

/**
 * More groups need less padding but more and smaller products. CPU seconds per step
 * of the golden run on one thread: 1.67 for 4 groups, 1.50 for 8, 1.27 for 12, 1.37
 * for 16.
 */
const GROUPS = 12;
const MEMORY = 2 ** 30;
/** Size of a part relative to MEMORY. Any split costs a second forward pass, so parts can be small. */
const PART = 1 / 4;
/** Groups of a part relative to GROUPS. Fewer, because the texts of a part have similar lengths. */
const PART_GROUPS = 1 / 3;

export class TrainableEncoder {
  /** Copies of the weights, to be changed in place. The table of words has only the words that occur. */
  readonly weights: ReadonlyMap<string, Tensor>;
  /** d loss / d weight, computed by `loss`. */
  readonly gradients: ReadonlyMap<string, Tensor>;
  /** Gradients of one part. */
  #partial: ReadonlyMap<string, Tensor> | undefined;
  readonly #model: TransformerModel;
  readonly #texts: readonly ArrayLike<number>[];
  /** Row of each word in the table of words. */
  readonly #rows: ReadonlyMap<number, number>;
  readonly #groups: number;
  readonly #memory: number;
  readonly #sessions: TrainingSessions;

  /** `texts` are token ids of all texts that pairs can refer to. */
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
   * Returns the loss of these pairs and sets `gradients`. Each text is encoded once,
   * however many pairs it is in.
   */
  async loss(pairs: readonly LabelledPair[]): Promise<number> {
    const members = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))];
    const bytes = members.reduce((sum, k) => sum + this.#activationBytes(k), 0);
    const loss =
      bytes <= this.#memory
        ? await this.#whole(members, pairs)
        : await this.#inParts(this.#split(members), pairs);
    this.#clearPadding();
    return loss;
  }

  /** Returns all trained weights. Words that do not occur are multiplied by `decay`, the total weight decay. */
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

  /** Computes the step in parts: see training-graph.ts. */
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

  /** Fills parts with as many texts as fit, shortest first. */
  #split(members: readonly number[]): number[][] {
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

  /** Bytes that the backward pass needs of the forward pass (see CHEAP in backward.ts), attention weights included. */
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

  /** Clears the gradient of the padding token, as PyTorch does, even if a text contains that token. */
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
