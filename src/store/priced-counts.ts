/** Counts for the comparison with "always one model" (docs/decisions/0017-savings.md), in US dollars. */
export const PRICED_COUNTS = [
  /** Answered requests in the comparison; for a model, its complete answers. */
  "priced",
  /** Expected cost of these requests if the model had answered all of them, and its standard deviation. */
  "always_cost",
  "always_doubt",
  /** Expected cost of the model's own answers, and squares of the actual cost minus the expected one. */
  "expected",
  "residual_sq",
] as const;

/**
 * `always_cost` and `always_doubt` of one request for each model of the pool. Arrays instead of
 * objects: a pool may have a thousand models, and every request carries these numbers to the store.
 */
export interface AlwaysCosts {
  readonly models: readonly string[];
  readonly costs: Float64Array;
  readonly doubts: Float64Array;
}

export type PricedCounts = Record<(typeof PRICED_COUNTS)[number], number>;
