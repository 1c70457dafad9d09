import { axpy, dot, inverse, multiply, rankOne } from "../linalg/linalg.ts";
import { sigmoid } from "./btl.ts";

/**
 * A Gaussian belief N(m, S) over the coefficients of a logistic model, updated
 * one vote at a time at O(d^2), whatever the number of votes before.
 *
 * A vote with feature v and outcome o in [0, 1] multiplies the belief by
 * exp(eta (o a' - log(1 + e^a'))), a' = v . theta. Along v the exact mode of the
 * product is one-dimensional: with u = S v, q = v . u and a = v . m it is
 * m + c u where c solves c = eta (o - sigmoid(a + q c)). The curvature there is
 * w = eta p (1 - p), and Sherman-Morrison gives
 *
 *   m <- m + c u,   S <- S - (w / (1 + w q)) u u^T.
 */
export class GaussianPosterior {
  readonly dimension: number;
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
  readonly #u: Float64Array;

  constructor(mean: Float64Array, covariance: Float64Array) {
    this.dimension = mean.length;
    this.mean = mean;
    this.covariance = covariance;
    this.#u = new Float64Array(mean.length);
  }

  /** Independent coefficients with the given means and standard deviations. */
  static independent(mean: Float64Array, sd: Float64Array): GaussianPosterior {
    const d = mean.length;
    const S = new Float64Array(d * d);
    for (let i = 0; i < d; i++) S[i * d + i] = sd[i]! ** 2;
    return new GaussianPosterior(mean.slice(), S);
  }

  /** Takes in one vote and returns the probability that it was given beforehand. */
  update(v: Float64Array, outcome: number, eta = 1): number {
    const u = this.#u;
    multiply(this.covariance, v, u);
    const q = Math.max(0, dot(v, u));
    const a = dot(v, this.mean);
    const { c, w } = solveVote(a, q, outcome, eta);
    axpy(c, u, this.mean);
    rankOne(this.covariance, -w / (1 + w * q), u);
    return predictive(a, q);
  }

  /**
   * Forgets a share 1 - g of all votes so far, in information form
   * Lambda = S^-1, h = Lambda m: both are drawn back to the prior's. O(d^3).
   */
  forget(g: number, prior: GaussianPosterior): void {
    const d = this.dimension;
    const blend = (now: Float64Array, before: Float64Array) =>
      now.map((value, i) => g * value + (1 - g) * before[i]!);
    const precision = inverse(this.covariance, d);
    const precision0 = inverse(prior.covariance, d);
    const h = new Float64Array(d);
    const h0 = new Float64Array(d);
    multiply(precision, this.mean, h);
    multiply(precision0, prior.mean, h0);
    this.covariance.set(inverse(blend(precision, precision0), d));
    multiply(this.covariance, blend(h, h0), this.mean);
  }

  clone(): GaussianPosterior {
    return new GaussianPosterior(this.mean.slice(), this.covariance.slice());
  }
}

/**
 * The root c of c = eta (o - sigmoid(a + q c)), and the curvature w there. It
 * lies between 0 and eta (o - sigmoid(a)), since the right side falls in c.
 * Newton, halving the bracket whenever a step leaves it: plain Newton cycles at
 * a = -8, q = 20, o = 1, whose root is 0.417.
 */
export function solveVote(
  a: number,
  q: number,
  outcome: number,
  eta: number,
): { c: number; w: number } {
  const start = eta * (outcome - sigmoid(a));
  let low = Math.min(0, start);
  let high = Math.max(0, start);
  let c = start / (1 + eta * q * 0.25);
  for (let i = 0; i < 60; i++) {
    const p = sigmoid(a + q * c);
    const f = c - eta * (outcome - p);
    if (f > 0) high = c;
    else low = c;
    const step = f / (1 + eta * q * p * (1 - p));
    const next = c - step;
    const inside = next >= low && next <= high ? next : (low + high) / 2;
    if (Math.abs(inside - c) <= 1e-14 * (Math.abs(c) + 1e-300)) break;
    c = inside;
  }
  const p = sigmoid(a + q * c);
  return { c, w: eta * p * (1 - p) };
}

/** E[sigmoid(z)] for z ~ N(a, q), by MacKay's approximation. */
export function predictive(a: number, q: number): number {
  return sigmoid(a / Math.sqrt(1 + (Math.PI / 8) * q));
}
