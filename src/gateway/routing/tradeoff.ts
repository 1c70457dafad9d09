/**
 * Lambda of a cost_quality_tradeoff t from 0 (quality alone) to 10 (the cheapest model):
 * lambda = t / (10 - t) / 4. It is the quality that the cost of the most expensive model for this
 * request is worth. At t = 5, a free model is chosen if it is at most 0.25 worse than the most
 * expensive one; at t = 3, 0.11; at t = 8, 1, so that from there price decides almost alone.
 */
export function lambdaOf(tradeoff: number): number {
  return Math.min(CHEAPEST, Math.max(TIES, tradeoff / (10 - tradeoff) / 4));
}

/** At 10, any difference in price outweighs every difference in quality, which only breaks ties. */
const CHEAPEST = 1e4;
/** At 0, price only decides between models of equal or unknown quality. */
const TIES = 1e-6;
