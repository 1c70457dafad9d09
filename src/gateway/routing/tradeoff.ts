/**
 * lambda of a cost_quality_tradeoff from 0 (quality alone) to 10 (the
 * cheapest): lambda = t / (10 - t) / 4, in shares of quality for what the
 * dearest model would cost for this very request. At 5 a model that costs
 * nothing may be 0.25 worse than the dearest one, at 3 0.11, at 8 1: from there
 * on price decides nearly alone.
 */
export function lambdaOf(tradeoff: number): number {
  return Math.min(CHEAPEST, Math.max(TIES, tradeoff / (10 - tradeoff) / 4));
}

/** At 10 any difference in price outweighs every difference in quality, which then breaks ties. */
const CHEAPEST = 1e4;
/** At 0 it is the other way round: where quality is the same, or nothing is known of it, price decides. */
const TIES = 1e-6;
