import type { Outlook } from "./pair-rule.ts";
import type { Estimate } from "./policy.ts";
import { predictive } from "./posterior.ts";

/**
 * An outlook in the terms that people can be told: utilities relative to the
 * mean of the pool, since votes are on differences and say nothing of a level
 * common to all.
 *
 * Var(f_k - mean f) within a view, blocks of models being independent, is
 * (1 - 2/K) g_k + sum_j g_j / K^2, and t_k^2 var_told, told scores having mean 0
 * already; between the views it is the weighted square of what their means
 * differ by.
 */
export function estimateOf(outlook: Outlook): Estimate {
  const { views, told } = outlook;
  const K = told.length;
  const mean = centred(outlook.mean);
  const variance = new Float64Array(K);
  for (const { weight, values, variances, toldVariance } of views) {
    const all = variances.reduce((sum, g) => sum + g, 0);
    const own = centred(values);
    for (let k = 0; k < K; k++) {
      const within = (1 - 2 / K) * variances[k]! + all / K ** 2 + toldVariance * told[k]! ** 2;
      variance[k]! += weight * (within + (own[k]! - mean[k]!) ** 2);
    }
  }
  return {
    mean,
    sd: variance.map(Math.sqrt),
    beats: (a, b) => {
      if (a === b) return 0.5;
      let p = 0;
      for (const { weight, scale, values, variances, toldVariance } of views) {
        const gap = values[a]! - values[b]!;
        const spread = variances[a]! + variances[b]! + toldVariance * (told[a]! - told[b]!) ** 2;
        p += weight * predictive(scale * gap, scale ** 2 * spread);
      }
      return p;
    },
  };
}

function centred(values: Float64Array): Float64Array {
  const middle = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - middle);
}
