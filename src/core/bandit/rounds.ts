import { norm } from "../linalg/linalg.ts";
import { difference, type FeatureOptions, type Features, hadamardFactors } from "./features.ts";
import { GrowingRows, HadamardPast, type PastFeatures, StoredPast } from "./past-features.ts";
import type { Comparison, Pool } from "./policy.ts";

/** S_t: the past rounds that have a vote, for policies that revisit them (Algorithm 1). */
export class Rounds {
  readonly models: number;
  readonly dimension: number;
  readonly phi: PastFeatures;
  /** x_i */
  readonly x: GrowingRows;
  /** Rows of a, b, win, weight. */
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

  /** The vote of round i. In the paper's notation a is a_i^1, b is a_i^2, and y_i = 2 win - 1; a is the answer shown first. */
  vote(i: number): Comparison {
    const { data } = this.votes;
    return {
      a: data[4 * i]!,
      b: data[4 * i + 1]!,
      win: data[4 * i + 2]!,
      weight: data[4 * i + 3]!,
    };
  }

  /** sum_i weight_i |sd o v_i|^2: four times a bound on the curvature of the votes, in units of the prior sd. */
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

/** Creates empty rounds, with the fast `PastFeatures` if the features are products. */
export function createRounds(
  pool: Pool,
  features: Features,
  options: FeatureOptions,
  sd: Float64Array,
): Rounds {
  const x = new GrowingRows(pool.centroids[0]!.length);
  const phi =
    options.features === "hadamard"
      ? new HadamardPast(hadamardFactors(pool, options), x)
      : new StoredPast(features.models, features.dimension);
  return new Rounds(features, phi, x, sd);
}
