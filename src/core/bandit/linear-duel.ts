import { invalidValue } from "../errors/joust-error.ts";
import { dot, dotAt, gram, multiply, rankOne } from "../linalg/linalg.ts";
import type { Random } from "../random/random.ts";
import {
  createFeatures,
  difference,
  FEATURE_ABOUT,
  FEATURE_DEFAULTS,
  type FeatureOptions,
  type Features,
} from "./features.ts";
import {
  type About,
  alignModels,
  argmax,
  comparisonsOf,
  type Policy,
  type Pool,
  type Round,
} from "./policy.ts";
import { GaussianPosterior } from "./posterior.ts";

/**
 * What the linear contextual dueling bandits share: CoLSTIM, MaxInP and
 * MaxPairUCB differ in the rule that picks the pair, VACDB keeps several
 * estimates. All assume P(i beats j) = sigmoid(theta . (phi_i - phi_j)).
 */
export type LinearOptions = FeatureOptions & {
  readonly scale: number;
  readonly lambda: number;
};

/** Category features, being the strongest where scores are told. */
export const LINEAR_DEFAULTS: LinearOptions = {
  ...FEATURE_DEFAULTS,
  features: "category",
  scale: 3,
  lambda: 4,
};

export const LINEAR_ABOUT: About<LinearOptions> = {
  ...FEATURE_ABOUT,
  scale: { meaning: "the vote scale that is assumed", above: 0 },
  lambda: { meaning: "the prior's share of V, the votes' information matrix", above: 0 },
};

export interface Prior {
  readonly mean: Float64Array;
  readonly sd: Float64Array;
}

/**
 * The prior of theta, in logits. Category features believe the told scores at
 * the assumed vote scale; the paper's features are told nothing and keep their
 * own sd.
 */
export function priorOf(
  features: Features,
  { features: set, scale }: Pick<LinearOptions, "features" | "scale">,
): Prior {
  const unit = set === "category" ? scale : 1;
  return {
    mean: features.priorMean.map((value) => value * unit),
    sd: features.priorSd.map((value) => value * unit),
  };
}

/**
 * theta and V of the papers, at O(d^2) a vote whatever the number before.
 *
 * Theirs: theta is the (regularised) maximum-likelihood estimate over all votes
 * and V = lambda I + sum v v^T, unweighted by the votes' curvature. Ours: theta
 * is the one-pass estimate of GaussianPosterior, and V starts as lambda times
 * the prior's precision, which is lambda' I wherever all coefficients have one
 * sd. lambda = 4 makes V / 4 the curvature of the regularised loss at even
 * votes, sigmoid' being 1/4 there. V is kept as its inverse (Sherman-Morrison).
 */
export class LinearEstimate {
  #posterior: GaussianPosterior;
  #Vinv: Float64Array;

  constructor(prior: Prior, lambda: number) {
    this.#posterior = GaussianPosterior.independent(prior.mean, prior.sd);
    this.#Vinv = this.#posterior.covariance.map((variance) => variance / lambda);
  }

  get theta(): Float64Array {
    return this.#posterior.mean;
  }

  get Vinv(): Float64Array {
    return this.#Vinv;
  }

  /** Takes in one vote; a weight of n counts as n equal votes. */
  update(v: Float64Array, outcome: number, weight: number): void {
    this.#posterior.update(v, outcome, weight);
    const u = new Float64Array(v.length);
    multiply(this.#Vinv, v, u);
    const q = dot(v, u);
    if (q > 0 && q < Infinity) rankOne(this.#Vinv, -weight / (1 + weight * q), u);
  }

  snapshot(): EstimateState {
    const { mean, covariance } = this.#posterior;
    return { mean: mean.slice(), covariance: covariance.slice(), Vinv: this.#Vinv.slice() };
  }

  /** Call on a fresh estimate: what the snapshot does not know keeps the prior. */
  restore(state: EstimateState, from: readonly string[], pool: Pool, featureSet: string): void {
    const remap = (old: Float64Array, fresh: Float64Array) =>
      remapCoefficients(old, from, fresh, pool, featureSet);
    const { mean, covariance } = this.#posterior;
    this.#posterior = new GaussianPosterior(
      remap(state.mean, mean),
      remap(state.covariance, covariance),
    );
    this.#Vinv = remap(state.Vinv, this.#Vinv);
  }
}

export interface EstimateState {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
  readonly Vinv: Float64Array;
}

/**
 * Coefficients learnt on a pool of the models `from`, for a pool that may have
 * lost some of them and gained others. `old` and `fresh` are both a vector of
 * theirs, or both a matrix such as their covariance.
 *
 * Category features have a block of coefficients for each model: blocks follow
 * their model's name, and a new model's are `fresh` (the prior). Dropping a
 * model's rows and columns is what marginalising it out of a Gaussian does.
 * The paper's features share theta among all models, so it is kept as it is.
 */
export function remapCoefficients(
  old: Float64Array,
  from: readonly string[],
  fresh: Float64Array,
  pool: Pick<Pool, "models" | "categories">,
  featureSet: string,
): Float64Array {
  const M = featureSet === "category" ? pool.categories.length : 0;
  if (M === 0) {
    checkSize(old.length, fresh.length);
    return old.slice();
  }
  const before = from.length * M + 1;
  const now = pool.models.length * M + 1;
  const source = alignModels(from, pool.models).flatMap((k) =>
    Array.from({ length: M }, (_, m) => (k < 0 ? -1 : k * M + m)),
  );
  source.push(before - 1); // the told score's coefficient, shared by all
  const out = fresh.slice();
  if (fresh.length === now) {
    checkSize(old.length, before);
    source.forEach((s, i) => {
      if (s >= 0) out[i] = old[s]!;
    });
    return out;
  }
  checkSize(old.length, before * before);
  source.forEach((s, i) => {
    source.forEach((r, j) => {
      if (s >= 0 && r >= 0) out[i * now + j] = old[s * before + r]!;
    });
  });
  return out;
}

function checkSize(found: number, expected: number): void {
  if (found === expected) return;
  throw invalidValue(
    `the snapshot holds ${found} coefficients where these features have ${expected}`,
    "restore with the encoder, categories and feature options it was taken with",
  );
}

/** What a rule chooses by. Models are indices into the pool. */
export interface Scores {
  /** phi_k . theta less the penalty, in logits. */
  readonly f: Float64Array;
  /** |phi_i - phi_j| in V^-1. */
  width(i: number, j: number): number;
  /** |phi_i - the mean phi of `over`| in V^-1; |phi_i| itself where `over` is empty. */
  widthFromMean(i: number, over: readonly number[]): number;
}

/** Picks the pair from the scores: pure, so that a test can restate it. */
export type PairRule = (
  scores: Scores,
  candidates: readonly number[],
  random: Random,
) => readonly [number, number];

/** The policy of a rule on one estimate over all votes. */
export function linearDuel(pool: Pool, options: LinearOptions, rule: PairRule): Policy {
  const space = new LinearDuelModel(pool, options);
  const fresh = () => new LinearEstimate(space.prior, options.lambda);
  let estimate = fresh();
  return {
    choose(round, random) {
      const pair = rule(space.scores(estimate, round), round.candidates, random);
      return { pair, values: space.values(estimate, round.x) };
    },
    learn(feedback) {
      for (const { a, b, win, weight } of comparisonsOf(feedback)) {
        estimate.update(space.difference(feedback.x, a, b), win, weight);
      }
    },
    snapshot: () => ({ models: pool.models, state: estimate.snapshot() }),
    restore({ models, state }) {
      estimate = fresh();
      estimate.restore(state as EstimateState, models, pool, options.features);
    },
  };
}

/** The features of a pool with their prior, and what is computed from them and an estimate. */
export class LinearDuelModel {
  readonly prior: Prior;
  readonly #features: Features;
  readonly #scale: number;
  #x: Float64Array | undefined;
  #rows: Float64Array = new Float64Array(0);

  constructor(pool: Pool, options: LinearOptions) {
    this.#features = createFeatures(pool, options);
    this.#scale = options.scale;
    this.prior = priorOf(this.#features, options);
  }

  /** phi of all models. The last query's are kept: its vote needs them again. */
  rows(x: Float64Array): Float64Array {
    if (this.#x !== x) {
      this.#rows = this.#features.rows(x);
      this.#x = x;
    }
    return this.#rows;
  }

  /** v = phi_a - phi_b */
  difference(x: Float64Array, a: number, b: number): Float64Array {
    return difference(this.rows(x), this.#features.dimension, a, b);
  }

  scores(estimate: LinearEstimate, { x, penalty }: Round): Scores {
    const { models: K, dimension: d } = this.#features;
    const Phi = this.rows(x);
    const f = this.#logits(estimate, x);
    if (penalty) for (let k = 0; k < K; k++) f[k]! -= this.#scale * penalty[k]!;
    const G = gram(Phi, K, estimate.Vinv, d);
    const root = (square: number) => Math.sqrt(Math.max(0, square));
    const at = (i: number, j: number) => G[i * K + j]!;
    return {
      f,
      width: (i, j) => (i === j ? 0 : root(at(i, i) + at(j, j) - 2 * at(i, j))),
      widthFromMean(i, over) {
        // |phi_i - mean_j phi_j|^2, the square written out.
        const n = over.length;
        let square = at(i, i);
        for (const j of over) {
          square -= (2 * at(i, j)) / n;
          for (const k of over) square += at(j, k) / n ** 2;
        }
        return root(square);
      },
    };
  }

  /** Estimated utilities: logits divided by the assumed vote scale. */
  values(estimate: LinearEstimate, x: Float64Array): Float64Array {
    return this.#logits(estimate, x).map((logit) => logit / this.#scale);
  }

  #logits(estimate: LinearEstimate, x: Float64Array): Float64Array {
    const { models: K, dimension: d } = this.#features;
    const Phi = this.rows(x);
    return Float64Array.from({ length: K }, (_, k) => dotAt(Phi, k * d, estimate.theta, 0, d));
  }
}

/** The unordered pair of candidates, twice the same included, with the largest value. */
export function argmaxPair(
  candidates: readonly number[],
  value: (i: number, j: number) => number,
  random: Random,
): [number, number] {
  const pairs = candidates.flatMap((i, n) =>
    candidates.slice(n).map((j): [number, number] => [i, j]),
  );
  const best = argmax([...pairs.keys()], (p) => value(...pairs[p]!), random);
  return pairs[best]!;
}
