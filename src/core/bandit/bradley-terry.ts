import { inverse, multiply } from "../linalg/linalg.ts";
import { sigmoid, softplus } from "./btl.ts";
import type { Votes } from "./memory.ts";
import type { Ratings } from "./ranking.ts";

/**
 * Fits Bradley-Terry ratings r to past votes. A Gaussian prior keeps the ratings of
 * models finite that have no vote, or have never lost:
 *
 *   max_r  sum_i w_i log P(vote i) - precision/2 |r - prior|^2,
 *   P(a beats b) = sigmoid(offset + r_a - r_b).
 *
 * The objective is concave, so Newton's method reaches the optimum if the step is
 * halved whenever it would lower the objective: about five steps, each with a pass
 * over the votes and one K x K inverse. It starts from the prior instead of the last
 * fit, so that a decision depends only on the votes.
 */
export function fitBradleyTerry(
  votes: Votes,
  prior: Float64Array,
  precision: number,
): GaussianRatings {
  const K = prior.length;
  let r = prior;
  let here = evaluate(votes, r, prior, precision);
  let covariance = inverse(here.information, K);
  for (let iteration = 0; iteration < 50; iteration++) {
    const step = new Float64Array(K);
    multiply(covariance, here.gradient, step);
    if (step.every((value) => Math.abs(value) < 1e-9)) break;
    // Near the optimum, rounding can lower the objective in its last bits; such a decrease is
    // accepted.
    const floor = here.value - 1e-13 * (1 + Math.abs(here.value));
    let next = r;
    let there = here;
    for (let length = 1; length > 1e-6; length /= 2) {
      next = r.map((value, k) => value + length * step[k]!);
      there = evaluate(votes, next, prior, precision);
      if (there.value >= floor) break;
    }
    r = next;
    here = there;
    covariance = inverse(here.information, K);
  }
  return gaussian(r, covariance);
}

export interface GaussianRatings extends Ratings {
  /** K x K */
  readonly covariance: Float64Array;
}

/** Creates ratings from mean and covariance. The width of a pair is sqrt Var(r_i - r_j). */
export function gaussian(mean: Float64Array, covariance: Float64Array): GaussianRatings {
  const K = mean.length;
  const at = (i: number, j: number) => covariance[i * K + j]!;
  return {
    mean,
    covariance,
    width: (i, j) => Math.sqrt(Math.max(0, at(i, i) + at(j, j) - 2 * at(i, j))),
  };
}

/** Returns the objective at r, its gradient, and its negative Hessian: a graph Laplacian plus the prior. */
export function evaluate(
  votes: Votes,
  r: Float64Array,
  prior: Float64Array,
  precision: number,
): { value: number; gradient: Float64Array; information: Float64Array } {
  const K = r.length;
  const gradient = new Float64Array(K);
  const information = new Float64Array(K * K);
  let value = 0;
  for (let k = 0; k < K; k++) {
    const away = r[k]! - prior[k]!;
    value -= (precision / 2) * away * away;
    gradient[k] = -precision * away;
    information[k * K + k] = precision;
  }
  for (let i = 0; i < votes.size; i++) {
    const a = votes.a[i]!;
    const b = votes.b[i]!;
    const z = votes.offset[i]! + r[a]! - r[b]!;
    const p = sigmoid(z);
    const weight = votes.weight[i]!;
    value += weight * (votes.win[i]! * z - softplus(z));
    const g = weight * (votes.win[i]! - p);
    const h = weight * p * (1 - p);
    gradient[a]! += g;
    gradient[b]! -= g;
    information[a * K + a]! += h;
    information[b * K + b]! += h;
    information[a * K + b]! -= h;
    information[b * K + a]! -= h;
  }
  return { value, gradient, information };
}
