import { dotAt, norm } from "../linalg/linalg.ts";
import { difference, embeddingsOf, type FeatureOptions, type Features } from "./features.ts";
import { GrowingRows } from "./growing-rows.ts";
import { HadamardPast } from "./hadamard-past.ts";
import type { Comparison, Pool } from "./policy.ts";

/**
 * S_t, the past rounds, for policies that go through them again (Algorithm 1).
 * Such a policy sees the features in two ways only: the scores <theta, phi> of
 * chosen rounds, and the transposed map, which carries a derivative by the
 * scores back to theta. `PastFeatures` is that pair, so that what is stored a
 * round is its own business.
 */
export class Rounds {
  readonly models: number;
  readonly dimension: number;
  readonly phi: PastFeatures;
  /** x_i */
  readonly x: GrowingRows;
  /** a, b, win, weight */
  readonly votes = new GrowingRows(4);
  readonly #features: Features;
  readonly #sd: Float64Array;
  #information = 0;

  constructor(features: Features, phi: PastFeatures, x: GrowingRows, sd: Float64Array) {
    this.models = features.models;
    this.dimension = features.dimension;
    this.phi = phi;
    this.x = x;
    this.#features = features;
    this.#sd = sd;
  }

  get length(): number {
    return this.votes.length;
  }

  /** a, the answer shown first, is the paper's a_i^1, b its a_i^2, and y_i = 2 win - 1. */
  vote(i: number): Comparison {
    const { data } = this.votes;
    return {
      a: data[4 * i]!,
      b: data[4 * i + 1]!,
      win: data[4 * i + 2]!,
      weight: data[4 * i + 3]!,
    };
  }

  /** sum_i weight_i |sd o v_i|^2: four times a bound of the votes' curvature, in prior sds. */
  get information(): number {
    return this.#information;
  }

  add(x: Float64Array, { a, b, win, weight }: Comparison): void {
    const rows = this.#features.rows(x);
    const v = difference(rows, this.dimension, a, b);
    const inSds = v.map((value, i) => value * this.#sd[i]!);
    this.#information += weight * norm(inSds) ** 2;
    this.x.push(x);
    this.votes.push([a, b, win, weight]);
    this.phi.push(rows);
  }
}

/** phi of the past rounds. A batch lists rounds; its scores are B rows of K numbers. */
export interface PastFeatures {
  /** Takes in the newest round: phi of all models there. */
  push(rows: Float64Array): void;
  /** out[b, k] <- <theta, phi(x_i, a_k)> with i = batch[b] */
  scores(theta: Float64Array, batch: Int32Array, out: Float64Array): void;
  /** The same for the two models of each round's vote; other entries are left alone. */
  pairScores(theta: Float64Array, batch: Int32Array, votes: GrowingRows, out: Float64Array): void;
  /** out <- out + sum_b sum_k C[b, k] phi(x_i, a_k) */
  spread(C: Float64Array, batch: Int32Array, out: Float64Array): void;
}

/** The past of a pool: the fast map where the features allow it, else the rows as they are. */
export function createRounds(
  pool: Pool,
  features: Features,
  options: FeatureOptions,
  sd: Float64Array,
): Rounds {
  const x = new GrowingRows(pool.centroids[0]!.length);
  const plain = options.metadata === "none" || !pool.told;
  const phi =
    options.features === "hadamard" && plain
      ? new HadamardPast(embeddingsOf(pool, options), x)
      : new StoredPast(features.models, features.dimension);
  return new Rounds(features, phi, x, sd);
}

/** The obvious map, for any features: K x d numbers a round (22 MB at K = 10, d = 384, t = 720). */
export class StoredPast implements PastFeatures {
  readonly #K: number;
  readonly #d: number;
  readonly #rows: GrowingRows;

  constructor(models: number, dimension: number) {
    this.#K = models;
    this.#d = dimension;
    this.#rows = new GrowingRows(models * dimension);
  }

  push(rows: Float64Array): void {
    this.#rows.push(rows);
  }

  scores(theta: Float64Array, batch: Int32Array, out: Float64Array): void {
    for (let b = 0; b < batch.length; b++) {
      for (let k = 0; k < this.#K; k++) out[b * this.#K + k] = this.#score(theta, batch[b]!, k);
    }
  }

  pairScores(theta: Float64Array, batch: Int32Array, votes: GrowingRows, out: Float64Array): void {
    for (let b = 0; b < batch.length; b++) {
      for (let side = 0; side < 2; side++) {
        const k = votes.data[batch[b]! * 4 + side]!;
        out[b * this.#K + k] = this.#score(theta, batch[b]!, k);
      }
    }
  }

  spread(C: Float64Array, batch: Int32Array, out: Float64Array): void {
    const rows = this.#rows.data;
    for (let b = 0; b < batch.length; b++) {
      for (let k = 0; k < this.#K; k++) {
        const c = C[b * this.#K + k]!;
        if (c === 0) continue;
        const at = (batch[b]! * this.#K + k) * this.#d;
        for (let i = 0; i < this.#d; i++) out[i]! += c * rows[at + i]!;
      }
    }
  }

  #score(theta: Float64Array, i: number, k: number): number {
    return dotAt(this.#rows.data, (i * this.#K + k) * this.#d, theta, 0, this.#d);
  }
}
