import { invalidValue } from "../errors/joust-error.ts";
import { dot, dotAt, gram, multiply, rankOne } from "../linalg/linalg.ts";
import type { Random } from "../random/random.ts";
import {
  createFeatures,
  difference,
  FEATURE_ABOUT,
  FEATURE_DEFAULTS,
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
 * The common part of the linear contextual dueling bandits. CoLSTIM, MaxInP and
 * MaxPairUCB differ in the rule that picks the pair; VACDB keeps several estimates.
 * All assume P(i beats j) = sigmoid(theta . (phi_i - phi_j)).
 */
export type LinearOptions = Readonly<typeof LINEAR_DEFAULTS>;

/** Category features are the default, because they are the strongest if scores are told. */
export const LINEAR_DEFAULTS = { ...FEATURE_DEFAULTS, features: "category", scale: 3, lambda: 4 };

export const LINEAR_ABOUT: About<LinearOptions> = {
  ...FEATURE_ABOUT,
  scale: { meaning: "assumed vote scale", above: 0 },
  lambda: { meaning: "weight of the prior in V, the information matrix of the votes", above: 0 },
};

export interface Prior {
  readonly mean: Float64Array;
  readonly sd: Float64Array;
}

/**
 * Returns the prior of theta, in logits. Category features trust the told scores at
 * the assumed vote scale; the features of the paper keep their own sd, because they
 * do not use told scores.
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
 * theta and V of the papers, updated in O(d^2) per vote.
 *
 * In the papers, theta is the (regularised) maximum-likelihood estimate over all votes
 * and V = lambda I + sum v v^T, without the curvature of the votes. Our deviation:
 * theta is the one-pass estimate of GaussianPosterior, and V starts as lambda times
 * the precision of the prior, which is lambda' I if all coefficients have the same sd.
 * lambda = 4 makes V / 4 the curvature of the regularised loss at win probability 1/2,
 * where sigmoid' is 1/4. V is stored as its inverse (Sherman-Morrison).
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

  /** Updates the estimate with one vote; a weight of n counts as n equal votes. */
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

  /** Restores a snapshot. Called on a new estimate: models that are not in the snapshot keep the prior. */
  restore(state: EstimateState, from: readonly string[], pool: Pool, featureSet: string): void {
    this.#posterior = remapPosterior(state, from, this.#posterior, pool, featureSet);
    this.#Vinv = remapCoefficients(state.Vinv, from, this.#Vinv, pool, featureSet);
  }
}

/** Moves a posterior to another pool: see `remapCoefficients`. */
export function remapPosterior(
  old: Pick<EstimateState, "mean" | "covariance">,
  from: readonly string[],
  fresh: GaussianPosterior,
  pool: Pool,
  featureSet: string,
): GaussianPosterior {
  return new GaussianPosterior(
    remapCoefficients(old.mean, from, fresh.mean, pool, featureSet),
    remapCoefficients(old.covariance, from, fresh.covariance, pool, featureSet),
  );
}

export interface EstimateState {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
  readonly Vinv: Float64Array;
}

/**
 * Moves coefficients that were learned on the models `from` to a pool that may have
 * lost some of these models and gained others. `old` and `fresh` are both vectors of
 * coefficients, or both matrices such as a covariance.
 *
 * Category features have a block of coefficients per model: a block follows the name of its model,
 * and the block of a new model is taken from `fresh` (the prior). Dropping the rows and columns of
 * a model marginalises it out of a Gaussian. The features of the paper share theta among all
 * models, so it stays as it is.
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
  source.push(before - 1); // the coefficient of the told score, which all models share
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
    `the snapshot has ${found} coefficients, but these features have ${expected}`,
    "restore it with the encoder, categories and feature options that it was made with",
  );
}

/** The scores that a rule chooses by. Models are indices into the pool. */
export interface Scores {
  /** phi_k . theta minus the penalty, in logits. */
  readonly f: Float64Array;
  /** Norm of phi_i - phi_j in V^-1. */
  width(i: number, j: number): number;
  /** Norm in V^-1 of phi_i minus the mean phi of `over`, or of phi_i itself if `over` is empty. */
  widthFromMean(i: number, over: readonly number[]): number;
}

/**
 * Picks the pair from the scores. It is a pure function, so that a test can compare it
 * with a second implementation.
 */
export type PairRule = (
  scores: Scores,
  candidates: readonly number[],
  random: Random,
) => readonly [number, number];

/** Creates a policy from a rule, with one estimate over all votes. */
export function linearDuel(pool: Pool, options: LinearOptions, rule: PairRule): Policy {
  const model = new LinearDuelModel(pool, options);
  const fresh = () => new LinearEstimate(model.prior, options.lambda);
  let estimate = fresh();
  return {
    choose(round, random) {
      const pair = rule(model.scores(estimate, round), round.candidates, random);
      return { pair, values: model.values(estimate.theta, round.x) };
    },
    learn(feedback) {
      for (const { a, b, win, weight } of comparisonsOf(feedback)) {
        estimate.update(model.difference(feedback.x, a, b), win, weight);
      }
    },
    snapshot: () => ({ models: pool.models, state: estimate.snapshot() }),
    restore({ models, state }) {
      estimate = fresh();
      estimate.restore(state as EstimateState, models, pool, options.features);
    },
  };
}

/** The features of a pool with their prior, and the quantities that are computed from them and an estimate. */
export class LinearDuelModel {
  readonly prior: Prior;
  readonly #features: Features;
  readonly #scale: number;
  #x: Float64Array | undefined;
  #rows: Float64Array = new Float64Array(0);

  constructor(pool: Pool, options: Omit<LinearOptions, "lambda">) {
    this.#features = createFeatures(pool, options);
    this.#scale = options.scale;
    this.prior = priorOf(this.#features, options);
  }

  /** Computes phi of all models. It caches the last query, which `learn` often needs after `choose`. */
  rows(x: Float64Array): Float64Array {
    if (this.#x !== x) {
      this.#rows = this.#features.rows(x);
      this.#x = x;
    }
    return this.#rows;
  }

  /** Computes v = phi_a - phi_b. */
  difference(x: Float64Array, a: number, b: number): Float64Array {
    return difference(this.rows(x), this.#features.dimension, a, b);
  }

  scores(estimate: LinearEstimate, { x, penalty }: Round): Scores {
    const { models: K, dimension: d } = this.#features;
    const Phi = this.rows(x);
    const f = this.#logits(estimate.theta, x);
    if (penalty) for (let k = 0; k < K; k++) f[k]! -= this.#scale * penalty[k]!;
    const G = gram(Phi, K, estimate.Vinv, d);
    const root = (square: number) => Math.sqrt(Math.max(0, square));
    const at = (i: number, j: number) => G[i * K + j]!;
    return {
      f,
      width: (i, j) => (i === j ? 0 : root(at(i, i) + at(j, j) - 2 * at(i, j))),
      widthFromMean(i, over) {
        // |phi_i - mean_j phi_j|^2, expanded.
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

  /** Returns the estimated utilities: logits divided by the assumed vote scale. */
  values(theta: Float64Array, x: Float64Array): Float64Array {
    return this.#logits(theta, x).map((logit) => logit / this.#scale);
  }

  #logits(theta: Float64Array, x: Float64Array): Float64Array {
    const { models: K, dimension: d } = this.#features;
    const Phi = this.rows(x);
    return Float64Array.from({ length: K }, (_, k) => dotAt(Phi, k * d, theta, 0, d));
  }
}

/** Returns the unordered pair of candidates with the largest value; both may be the same model. */
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
