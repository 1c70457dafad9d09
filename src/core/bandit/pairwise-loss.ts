import { sigmoid } from "./btl.ts";

/**
 * Mean logistic loss of the ratings of K models over all pairs of their scores on one query, and its
 * gradient. The model with the larger score wins the pair; equal scores are half a win for each.
 */
export function pairwiseLoss(
  ratings: Float64Array,
  scores: Float64Array,
): { readonly loss: number; readonly gradient: Float64Array } {
  const K = ratings.length;
  const gradient = new Float64Array(K);
  const weight = 2 / (K * (K - 1));
  let loss = 0;
  for (let a = 0; a < K; a++) {
    for (let b = 0; b < a; b++) {
      const win = scores[a]! > scores[b]! ? 1 : scores[a]! < scores[b]! ? 0 : 0.5;
      const logit = ratings[a]! - ratings[b]!;
      // log(1 + e^z) - win z, without overflow.
      loss += weight * (Math.max(0, logit) + Math.log1p(Math.exp(-Math.abs(logit))) - win * logit);
      const slope = weight * (sigmoid(logit) - win);
      gradient[a]! += slope;
      gradient[b]! -= slope;
    }
  }
  return { loss, gradient };
}
