import { axpy, dot, multiply, rankOne } from "../linalg/linalg.ts";
import { sigmoid } from "./btl.ts";

/**
 * A Gaussian posterior N(m, S) over the coefficients of a logistic model. An update
 * takes O(d^2), however many votes came before.
 *
 * A vote with feature vector v and outcome o in [0, 1] multiplies the posterior by
 * exp(eta (o a' - log(1 + e^a'))), a' = v . theta. The exact mode of the product
 * lies on a line: with u = S v, q = v . u and a = v . m it is m + c u, where c
 * solves c = eta (o - sigmoid(a + q c)). The curvature there is w = eta p (1 - p),
 * and Sherman-Morrison gives
 *
 *   m <- m + c u,   S <- S - (w / (1 + w q)) u u^T.
 *
 * Rounding would eventually make S indefinite: votes of weight 1e6 on features of
 * 1e8 do so in ten steps, and NaN follows. Therefore no vote shrinks the variance
 * in its own direction below RESOLUTION times that of independent coefficients.
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

  /** A posterior of independent coefficients with the given means and standard deviations. */
  static independent(mean: Float64Array, sd: Float64Array): GaussianPosterior {
    const d = mean.length;
    const S = new Float64Array(d * d);
    for (let i = 0; i < d; i++) S[i * d + i] = sd[i]! ** 2;
    return new GaussianPosterior(mean.slice(), S);
  }

  /** Updates the posterior with one vote and returns the probability of outcome 1 before it. */
  update(v: Float64Array, outcome: number, eta = 1): number {
    const u = this.#u;
    multiply(this.covariance, v, u);
    const q = dot(v, u);
    const a = dot(v, this.mean);
    const floor = RESOLUTION * this.#independentVariance(v);
    // False also if q is not finite: such a vote is ignored.
    if (q > floor) {
      const { c, w } = solveVote(a, q, outcome, eta);
      axpy(c, u, this.mean);
      rankOne(this.covariance, -Math.min(w / (1 + w * q), (1 - floor / q) / q), u);
    }
    return predictive(a, Math.max(0, q));
  }

  /** sum_i v_i^2 S_ii: the variance that v . theta would have if the coefficients were independent. */
  #independentVariance(v: Float64Array): number {
    const d = this.dimension;
    let sum = 0;
    for (let i = 0; i < d; i++) sum += v[i]! * v[i]! * this.covariance[i * d + i]!;
    return sum;
  }

  clone(): GaussianPosterior {
    return new GaussianPosterior(this.mean.slice(), this.covariance.slice());
  }
}

/** The rounding error of q = v^T S v is about d 2^-53 of the independent variance. This is far larger for every d in use. */
const RESOLUTION = 1e-12;

/**
 * Returns the root c of c = eta (o - sigmoid(a + q c)), and the curvature w there.
 * The root lies between 0 and eta (o - sigmoid(a)), because the right side falls
 * with c.
 *
 * Plain Newton cycles at a = -8, q = 20, o = 1, whose root is 0.417: it jumps back
 * and forth across the inflection z = a + q c = 0 of the sigmoid. On either side of
 * the inflection the function is concave or convex, so Newton converges if it stays
 * on the side of the root. o - sigmoid(z) is written so that nothing cancels for
 * o = 0 or 1, and so that swapping the pair and the vote negates c to the last bit.
 */
export function solveVote(
  a: number,
  q: number,
  outcome: number,
  eta: number,
): { c: number; w: number } {
  const start = eta * (outcome * sigmoid(-a) - (1 - outcome) * sigmoid(a));
  let low = Math.min(0, start);
  let high = Math.max(0, start);
  const inflection = -a / q;
  if (inflection <= eta * (outcome - 0.5)) low = Math.max(low, inflection);
  if (inflection >= eta * (outcome - 0.5)) high = Math.min(high, inflection);
  let c = Math.min(high, Math.max(low, start / (1 + 0.25 * eta * q)));
  for (let i = 0; i < 100; i++) {
    const p = sigmoid(a + q * c);
    const rest = sigmoid(-a - q * c);
    const step = (c - eta * (outcome * rest - (1 - outcome) * p)) / (1 + q * eta * (p * rest));
    c = Math.min(high, Math.max(low, c - step));
    if (q * step * step <= 1e-16 * Math.abs(c)) break; // the remaining error is at most q step^2 / 2
  }
  return { c, w: eta * (sigmoid(a + q * c) * sigmoid(-a - q * c)) };
}

/** Returns E[sigmoid(z)] for z ~ N(a, q), by MacKay's approximation. */
export function predictive(a: number, q: number): number {
  return sigmoid(a / Math.sqrt(1 + (Math.PI / 8) * q));
}
