import { cholesky, dot, dotAt, multiply, quadraticForm, rankOne } from "../linalg/linalg.ts";
import type { Random } from "../random/random.ts";
import type { KindBeliefs, KindFactors } from "./kind-beliefs.ts";
import type { Pool } from "./policy.ts";
import { predictive, solveVote } from "./posterior.ts";

/**
 * The posterior under one hypothesis. The hypothesis fixes the vote scale s and how
 * far the told scores are trusted; given these, the utilities are Gaussian:
 *
 *   utility of model k on a query = told coefficient * t_k + w . theta_k,
 *
 * where w is the query's membership, t_k the told score of model k relative to the
 * mean of the pool, and theta_k what the votes add to it, one number per category.
 * Utilities have the unit of the told scores; s turns them into logits.
 *
 * Deviation from the exact update in posterior.ts: after each vote, the covariance
 * between different models, and between models and shared coefficients, is dropped
 * (assumed density filtering, as in TrueSkill). One M x M block per model is left,
 * so a vote changes two blocks: O(M^2) time and O(K M^2) memory instead of
 * O(K^2 M^2) for both. Regret is the same within noise
 * (docs/decisions/0002-block-covariance.md).
 */
export class BlockPosterior {
  readonly hypothesis: Hypothesis;
  /** theta_k ~ N(means[k], covariances[k]) */
  readonly means: Float64Array[];
  readonly covariances: Float64Array[];
  /** Means of the coefficients that all models share, at the indices TOLD, POSITION, BIAS and SLOPE. They are independent. */
  readonly shared: Float64Array;
  readonly sharedVariance: Float64Array;
  /** Beliefs about kinds of voters other than people; undefined before the first vote of one. */
  kinds: KindBeliefs | undefined;
  /**
   * Share of the queries for which a vote is informative: the squared correlation, before any
   * vote, between two categories of a model, on average over all pairs. It is the share of
   * the variance in one category that knowledge of the other explains.
   */
  reach = 1;
  /** Log of the prior weight, plus the log of the probability that this hypothesis gave to the votes so far. */
  evidence: number;
  readonly #u: Float64Array;
  readonly #toldCovariances: readonly Float64Array[] | undefined;

  private constructor(
    hypothesis: Hypothesis,
    M: number,
    toldCovariances: readonly Float64Array[] | undefined,
  ) {
    this.hypothesis = hypothesis;
    this.means = [];
    this.covariances = [];
    this.shared = Float64Array.of(hypothesis.told, 0, 0, 1);
    this.sharedVariance = priorVariances(hypothesis);
    this.evidence = hypothesis.logPrior;
    this.#u = new Float64Array(M);
    this.#toldCovariances = toldCovariances;
  }

  /**
   * The posterior before any vote, for K models and M categories. `toldCovariances` are
   * the covariances of the errors of the told scores, one M x M block per model, if known.
   */
  static prior(
    hypothesis: Hypothesis,
    K: number,
    M: number,
    toldCovariances?: readonly Float64Array[],
  ): BlockPosterior {
    const posterior = new BlockPosterior(hypothesis, M, toldCovariances);
    for (let k = 0; k < K; k++) {
      posterior.means.push(new Float64Array(M));
      posterior.covariances.push(posterior.priorCovariance(k));
    }
    posterior.reach = reachOf(posterior.covariances, M);
    return posterior;
  }

  /** Covariance of theta_k before any vote. A hypothesis that trusts the told scores adds their errors. */
  priorCovariance(k: number): Float64Array {
    const { told, cellSd, correlation } = this.hypothesis;
    const M = this.#u.length;
    const error = told > 0 ? this.#toldCovariances?.[k] : undefined;
    const S = error ? error.slice() : new Float64Array(M * M);
    for (let i = 0; i < M; i++) {
      for (let j = 0; j < M; j++) S[i * M + j]! += cellSd ** 2 * (i === j ? 1 : correlation);
    }
    return S;
  }

  /** Expected utility of model k, relative to the mean of the pool. */
  value(k: number, w: Float64Array, told: number): number {
    return this.shared[TOLD]! * told + dot(w, this.means[k]!);
  }

  /** Variance of w . theta_k. */
  variance(k: number, w: Float64Array): number {
    return Math.max(0, quadraticForm(this.covariances[k]!, w));
  }

  /**
   * Updates the posterior with one observation, whose outcome is 1 with probability
   * sigmoid(a), a being linear in the coefficients around their means. `robust` > 0
   * bounds the weight eta by eta * robust / sd(a), so that a single surprising vote
   * about an uncertain pair changes little (He et al. 2022, corruption-robust linear
   * bandits).
   */
  observe(observation: Observation, outcome: number, eta: number, robust = 0): void {
    const { w, terms, shared, logit } = observation;
    const q = this.#logitVariance(observation);
    const { c, w: curvature } = solveVote(logit, q, outcome, boundedWeight(eta, q, robust));
    for (const { model, factor } of terms) {
      this.#direct(model, observation);
      const mean = this.means[model]!;
      for (let m = 0; m < w.length; m++) mean[m]! += c * factor * this.#u[m]!;
      this.kinds?.move(model, c * factor);
    }
    for (let i = 0; i < shared.length; i++) {
      this.shared[i]! += c * this.sharedVariance[i]! * shared[i]!;
    }
    this.#shrink(observation, curvature, q);
    const { kind } = observation;
    if (kind) this.kinds!.learn(kind, c, curvature / (1 + curvature * q));
  }

  /** u <- S w: the covariances of theta_k, and of its tastes, with the term of the model in the logit. */
  #direct(model: number, { w, kind }: Observation): void {
    multiply(this.covariances[model]!, w, this.#u);
    this.kinds?.direct(model, w, kind?.index, this.#u);
  }

  /** Predictive probability of outcome 1. */
  probability(observation: Observation): number {
    return predictive(observation.logit, this.#logitVariance(observation));
  }

  /** Shrinks the variances as the expected vote would, whatever its outcome. Called on a `shallowCopy` only. */
  anticipateVote(observation: Observation, eta: number, robust = 0): void {
    const q = this.#logitVariance(observation);
    const p = predictive(observation.logit, q);
    for (const { model } of observation.terms) {
      this.covariances[model] = this.covariances[model]!.slice();
    }
    this.#shrink(observation, boundedWeight(eta, q, robust) * p * (1 - p), q);
  }

  /** S <- S - (w / (1 + w q)) u u^T, block by block. */
  #shrink(observation: Observation, curvature: number, q: number): void {
    const { terms, shared } = observation;
    const gain = curvature / (1 + curvature * q);
    for (const { model, factor } of terms) {
      this.#direct(model, observation);
      rankOne(this.covariances[model]!, -gain * factor * factor, this.#u);
      this.kinds?.shrink(model, gain * factor * factor, this.#u);
    }
    for (let i = 0; i < shared.length; i++) {
      const u = this.sharedVariance[i]! * shared[i]!;
      this.sharedVariance[i]! -= gain * u * u;
    }
  }

  /** Draws all coefficients from the posterior. */
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

  /** A copy for `anticipateVote`, which replaces the shared blocks that it changes. It has no kinds of voters. */
  shallowCopy(): BlockPosterior {
    const copy = new BlockPosterior(this.hypothesis, this.#u.length, this.#toldCovariances);
    copy.means.push(...this.means);
    copy.covariances.push(...this.covariances);
    copy.shared.set(this.shared);
    copy.sharedVariance.set(this.sharedVariance);
    copy.evidence = this.evidence;
    copy.reach = this.reach;
    return copy;
  }

  /**
   * Lets the truth drift: each coefficient follows the stationary process with this
   * prior whose correlation over the elapsed time is sqrt(g), so
   * m <- m0 + sqrt(g) (m - m0) and S <- g S + (1 - g) S0. Like forgetting in
   * information form it returns to the prior, but it needs no inverse.
   */
  drift(g: number): void {
    const M = this.#u.length;
    const root = Math.sqrt(g);
    for (let k = 0; k < this.means.length; k++) {
      const prior = this.priorCovariance(k);
      const mean = this.means[k]!;
      const covariance = this.covariances[k]!;
      for (let i = 0; i < M; i++) mean[i]! *= root;
      for (let i = 0; i < M * M; i++) covariance[i] = g * covariance[i]! + (1 - g) * prior[i]!;
    }
    this.kinds?.drift(g, this.hypothesis);
    const { told, toldSd, logPrior } = this.hypothesis;
    this.shared[TOLD] = told + root * (this.shared[TOLD]! - told);
    this.sharedVariance[TOLD] = g * this.sharedVariance[TOLD]! + (1 - g) * toldSd ** 2;
    this.evidence = logPrior + g * (this.evidence - logPrior);
  }

  /** Variance of the logit. */
  #logitVariance({ w, terms, shared, kind }: Observation): number {
    let q = 0;
    for (const { model, factor } of terms) q += factor * factor * this.variance(model, w);
    if (kind) {
      for (const { model, factor } of terms) {
        q += factor * factor * this.kinds!.addedVariance(model, w, kind.index);
      }
      q += this.kinds!.coefficientVariance(kind);
    }
    for (let i = 0; i < shared.length; i++) q += shared[i]! ** 2 * this.sharedVariance[i]!;
    return q;
  }
}

function boundedWeight(eta: number, q: number, robust: number): number {
  return robust > 0 ? eta * Math.min(1, robust / Math.sqrt(q + 1e-12)) : eta;
}

/** Assumptions about votes and told scores. Snapshots hold these field names. */
export interface Hypothesis {
  /** The vote scale s. */
  readonly scale: number;
  /** Prior mean and sd of the coefficient of the told scores: 1 trusts them, 0 ignores them. */
  readonly told: number;
  readonly toldSd: number;
  /** Prior sd of theta, and the correlation between the categories of one model. */
  readonly cellSd: number;
  readonly correlation: number;
  readonly logPrior: number;
}

/** Indices of the shared coefficients. */
export const TOLD = 0; // coefficient of the told scores
export const POSITION = 1; // logit by which the answer shown first is favoured
export const BIAS = 2; // logit of a like of an average answer
export const SLOPE = 3; // rho: logits of a like per logit of a vote
export const SHARED = 4; // number of shared coefficients

/** Adds `factor` times the utility of `model` to the logit. */
interface Term {
  readonly model: number;
  readonly factor: number;
}

/** An observation with outcome 0..1: its logit as a linear function of the coefficients. */
export interface Observation {
  readonly w: Float64Array;
  readonly terms: readonly Term[];
  /** Factors of the shared coefficients. */
  readonly shared: Float64Array;
  /** The voter's kind, if it is not a person. The utilities then include the kind's tastes. */
  readonly kind?: KindFactors | undefined;
  /** The logit at the current means. */
  readonly logit: number;
}

/** Prior variances of the shared coefficients. */
export function priorVariances({ toldSd }: Hypothesis): Float64Array {
  return Float64Array.of(toldSd ** 2, 0.25, 1, 0.25);
}

/** Mean squared correlation between two categories of a model, over all models and pairs. */
function reachOf(covariances: readonly Float64Array[], M: number): number {
  let sum = 0;
  for (const S of covariances) {
    for (let i = 0; i < M; i++) {
      for (let j = 0; j < M; j++) sum += S[i * M + j]! ** 2 / (S[i * M + i]! * S[j * M + j]!);
    }
  }
  return sum / (covariances.length * M * M);
}

/** Returns the hypotheses about votes and told scores. */
export function hypothesesOf({ told, toldErrors }: Pool): Hypothesis[] {
  const priors = told ? trustLevels(toldErrors ? MEASURED : UNMEASURED) : SPREADS;
  const scales = told ? SCALES : [UNTOLD_SCALE];
  return scales.flatMap((scale) => priors.map((prior) => ({ scale, ...prior })));
}

const SCALES = [1, 3, 10];
/** The told scores carry no information. */
const UNINFORMATIVE = { told: 0, toldSd: 0.5, cellSd: 0.2, correlation: 0.5 };
/**
 * Hypotheses about the told scores: votes are about what the scores measure, nearly about
 * that, or about something else. The less the scores say, the wider the prior of theta is, and the more
 * the categories of one model are correlated. Errors of measurement are added to the first two if they
 * are known; otherwise these two are also hypotheses about the errors.
 */
function trustLevels([right, roughly, not]: readonly [number, number, number]) {
  return [
    { told: 1, toldSd: 0.05, cellSd: 0.03, correlation: 0, logPrior: Math.log(right) },
    { told: 1, toldSd: 0.2, cellSd: 0.12, correlation: 0, logPrior: Math.log(roughly) },
    { ...UNINFORMATIVE, logPrior: Math.log(not) },
  ];
}
/**
 * Prior probabilities of the three. Scores with known errors come from evaluations, so their source is
 * known as well; a table without errors may be from anywhere (docs/decisions/0027-told-scores-with-errors.md).
 */
const MEASURED = [0.85, 0.12, 0.03] as const;
const UNMEASURED = [0.45, 0.35, 0.2] as const;
/**
 * The vote scale if no score is told. Votes determine only the product of s and the
 * utilities, so the unit of utility has to be fixed: a small difference d means
 * P(preferred) - P(other preferred) = d, which gives s = 2 for votes without ties
 * (the policy corrects for ties). The unknown is then how far the models are apart,
 * which is the prior sd of theta. Assuming one sd and learning s instead would let
 * that sd decide the unit (docs/decisions/0005-unit-of-quality.md).
 */
export const UNTOLD_SCALE = 2;
export const NARROWEST_SPREAD = 0.15;
const SPREADS = [NARROWEST_SPREAD, 0.3, 0.6].map((cellSd) => ({
  ...UNINFORMATIVE,
  toldSd: 0,
  cellSd,
  logPrior: -Math.log(3),
}));
