import { cholesky, dot, dotAt, multiply, quadraticForm, rankOne } from "../linalg/linalg.ts";
import type { Random } from "../random/random.ts";
import { predictive, solveVote } from "./posterior.ts";

/**
 * One hypothesis about votes: a scale s, how far the told scores are believed,
 * and given these a Gaussian belief over the utilities of all models,
 *
 *   utility of model k on a query = told coefficient * t_k + w . theta_k,
 *
 * where w is the query's membership of the categories, t_k its told score
 * relative to the pool's mean, and theta_k what votes add to it, a number a
 * category. Units are those of the scores; s turns them into logits.
 *
 * Deviation from the exact update of posterior.ts: the covariance between
 * different models, and between them and the shared coefficients, is dropped
 * after each vote (assumed density filtering; TrueSkill does the same). What is
 * left is one M x M block a model, so a vote touches two blocks: O(M^2) time
 * and O(K M^2) memory in place of O(K^2 M^2) for both. Regret is the same
 * within noise (docs/decisions/0002-block-covariance.md).
 */
export class BlockPosterior {
  readonly hypothesis: Hypothesis;
  /** theta_k ~ N(means[k], covariances[k]) */
  readonly means: Float64Array[];
  readonly covariances: Float64Array[];
  /** Independent coefficients that no model owns, in the order of `SHARED`. */
  readonly shared: Float64Array;
  readonly sharedVariance: Float64Array;
  /** log prior weight + log probability that this hypothesis gave to the votes so far. */
  evidence: number;
  readonly #u: Float64Array;

  private constructor(hypothesis: Hypothesis, M: number) {
    this.hypothesis = hypothesis;
    this.means = [];
    this.covariances = [];
    this.shared = Float64Array.of(hypothesis.told, 0, 0, 1);
    this.sharedVariance = Float64Array.of(hypothesis.toldSd ** 2, 0.25, 1, 0.25);
    this.evidence = hypothesis.logPrior;
    this.#u = new Float64Array(M);
  }

  /** Before any vote, for K models and M categories. */
  static prior(hypothesis: Hypothesis, K: number, M: number): BlockPosterior {
    const posterior = new BlockPosterior(hypothesis, M);
    for (let k = 0; k < K; k++) {
      posterior.means.push(new Float64Array(M));
      posterior.covariances.push(priorCovariance(hypothesis, M));
    }
    return posterior;
  }

  /** Expected utility of model k, relative to the pool's mean. */
  value(k: number, w: Float64Array, told: number): number {
    return this.shared[TOLD]! * told + dot(w, this.means[k]!);
  }

  /** Variance of w . theta_k. */
  variance(k: number, w: Float64Array): number {
    return Math.max(0, quadraticForm(this.covariances[k]!, w));
  }

  /**
   * Takes in one observation: outcome 1 with probability sigmoid(a), a linear in
   * the coefficients around their means.
   * `robust` > 0 bounds the weight by robust / sd(a): a single surprising vote
   * about something unknown cannot move much (He et al. 2022, corruption-robust
   * linear bandits).
   */
  observe(observation: Observation, outcome: number, eta: number, robust = 0): void {
    const { w, terms, shared, logit } = observation;
    const q = this.#logitVariance(observation);
    const { c, w: curvature } = solveVote(logit, q, outcome, boundedWeight(eta, q, robust));
    for (const { model, factor } of terms) {
      multiply(this.covariances[model]!, w, this.#u);
      const mean = this.means[model]!;
      for (let m = 0; m < w.length; m++) mean[m]! += c * factor * this.#u[m]!;
    }
    for (let i = 0; i < shared.length; i++) {
      this.shared[i]! += c * this.sharedVariance[i]! * shared[i]!;
    }
    this.#shrink(observation, curvature, q);
  }

  /** That it gives to outcome 1. */
  probability(observation: Observation): number {
    return predictive(observation.logit, this.#logitVariance(observation));
  }

  /** What a vote to come will do to the variances, whichever way it goes: a copy's, never the belief's. */
  anticipateVote(observation: Observation, eta: number, robust = 0): void {
    const q = this.#logitVariance(observation);
    const p = predictive(observation.logit, q);
    for (const { model } of observation.terms) {
      this.covariances[model] = this.covariances[model]!.slice();
    }
    this.#shrink(observation, boundedWeight(eta, q, robust) * p * (1 - p), q);
  }

  /** S <- S - (w / (1 + w q)) u u^T, block by block. */
  #shrink({ w, terms, shared }: Observation, curvature: number, q: number): void {
    const gain = curvature / (1 + curvature * q);
    for (const { model, factor } of terms) {
      multiply(this.covariances[model]!, w, this.#u);
      rankOne(this.covariances[model]!, -gain * factor * factor, this.#u);
    }
    for (let i = 0; i < shared.length; i++) {
      const u = this.sharedVariance[i]! * shared[i]!;
      this.sharedVariance[i]! -= gain * u * u;
    }
  }

  /** Coefficients as they may be. */
  draw(random: Random): { readonly told: number; readonly theta: readonly Float64Array[] } {
    const M = this.#u.length;
    const told = this.shared[TOLD]! + Math.sqrt(this.sharedVariance[TOLD]!) * random.normal();
    const theta = this.means.map((mean, k) => {
      const L = cholesky(this.covariances[k]!, M);
      const z = mean.map(() => random.normal());
      return mean.map((value, i) => value + dotAt(L, i * M, z, 0, i + 1));
    });
    return { told, theta };
  }

  /** A copy to narrow: it shares everything with this one until then. */
  shallowCopy(): BlockPosterior {
    const copy = new BlockPosterior(this.hypothesis, this.#u.length);
    copy.means.push(...this.means);
    copy.covariances.push(...this.covariances);
    copy.shared.set(this.shared);
    copy.sharedVariance.set(this.sharedVariance);
    copy.evidence = this.evidence;
    return copy;
  }

  /**
   * The truth has drifted: each coefficient follows the stationary process with
   * this prior whose correlation over the time passed is sqrt(g), so
   * m <- m0 + sqrt(g) (m - m0), S <- g S + (1 - g) S0. Like forgetting in
   * information form it leads back to the prior, without that form's inverses.
   */
  drift(g: number): void {
    const M = this.#u.length;
    const prior = priorCovariance(this.hypothesis, M);
    const root = Math.sqrt(g);
    for (let k = 0; k < this.means.length; k++) {
      const mean = this.means[k]!;
      const covariance = this.covariances[k]!;
      for (let i = 0; i < M; i++) mean[i]! *= root;
      for (let i = 0; i < M * M; i++) covariance[i] = g * covariance[i]! + (1 - g) * prior[i]!;
    }
    const { told, toldSd, logPrior } = this.hypothesis;
    this.shared[TOLD] = told + root * (this.shared[TOLD]! - told);
    this.sharedVariance[TOLD] = g * this.sharedVariance[TOLD]! + (1 - g) * toldSd ** 2;
    this.evidence = logPrior + g * (this.evidence - logPrior);
  }

  /** Variance of the logit. */
  #logitVariance({ w, terms, shared }: Observation): number {
    let q = 0;
    for (const { model, factor } of terms) q += factor * factor * this.variance(model, w);
    for (let i = 0; i < shared.length; i++) q += shared[i]! ** 2 * this.sharedVariance[i]!;
    return q;
  }
}

function boundedWeight(eta: number, q: number, robust: number): number {
  return robust > 0 ? eta * Math.min(1, robust / Math.sqrt(q + 1e-12)) : eta;
}

/** What a belief assumes before the first vote. */
export interface Hypothesis {
  /** s */
  readonly scale: number;
  /** Mean and sd of the told scores' coefficient: 1 believes them, 0 does not. */
  readonly told: number;
  readonly toldSd: number;
  /** Prior sd of theta, and its correlation between categories of one model. */
  readonly cellSd: number;
  readonly correlation: number;
  readonly logPrior: number;
}

/** Coefficient of the told scores; logit of the answer shown first; of liking an average answer; slope of likes. */
export const TOLD = 0;
export const POSITION = 1;
export const BIAS = 2;
export const SLOPE = 3;
export const SHARED = 4;

/** Model `model` enters the logit with `factor` times its utility. */
interface Term {
  readonly model: number;
  readonly factor: number;
}

export interface Observation {
  readonly w: Float64Array;
  readonly terms: readonly Term[];
  readonly shared: Float64Array;
  /** The logit at the present means. */
  readonly logit: number;
}

function priorCovariance({ cellSd, correlation }: Hypothesis, M: number): Float64Array {
  const S = new Float64Array(M * M);
  for (let i = 0; i < M; i++) {
    for (let j = 0; j < M; j++) S[i * M + j] = cellSd ** 2 * (i === j ? 1 : correlation);
  }
  return S;
}
