import type { UtilityMixture } from "./pair-rule.ts";
import type { Estimate } from "./policy.ts";
import { predictive } from "./posterior.ts";

/**
 * Computes means and standard deviations relative to the mean of the pool, because
 * votes are about differences and say nothing about a level that all models share.
 *
 * Within a component, Var(f_k - mean f) is (1 - 2/K) g_k + sum_j g_j / K^2, because
 * models are independent, plus t_k^2 var_told, because told scores have mean 0.
 * Between components, it is the weighted square of the difference of their means.
 *
 * `information` is r + tau (1 - r) for a share r of decided votes and the weight tau of ties. If ties
 * count less than wins, the scores of votes vary 1 / information times as much as the
 * posterior assumes, and its logits are 1 / information times as large as those of votes.
 */
export function estimateOf(mixture: UtilityMixture, information = 1): Estimate {
  const { components, told } = mixture;
  const K = told.length;
  const mean = new Float64Array(K);
  const middle = total(mixture.mean) / K;
  for (let k = 0; k < K; k++) mean[k] = mixture.mean[k]! - middle;
  const sd = new Float64Array(K); // the variance, until all components are added
  for (const { weight, values, variances, toldVariance } of components) {
    const all = total(variances);
    const own = total(values) / K;
    for (let k = 0; k < K; k++) {
      const within = (1 - 2 / K) * variances[k]! + all / K ** 2 + toldVariance * told[k]! ** 2;
      sd[k]! += weight * (within / information + (values[k]! - own - mean[k]!) ** 2);
    }
  }
  for (let k = 0; k < K; k++) sd[k] = Math.sqrt(sd[k]!);
  return {
    mean,
    sd,
    beats: (a, b) => {
      if (a === b) return 0.5;
      let p = 0;
      for (const { weight, scale, values, variances, toldVariance } of components) {
        const gap = values[a]! - values[b]!;
        const spread = variances[a]! + variances[b]! + toldVariance * (told[a]! - told[b]!) ** 2;
        p += weight * predictive(information * scale * gap, information * scale ** 2 * spread);
      }
      return p;
    },
  };
}

/**
 * Sums the values in a loop, because `reduce` takes several times as long and this runs
 * for every component of every request.
 */
function total(values: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < values.length; k++) sum += values[k]!;
  return sum;
}
