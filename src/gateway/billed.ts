import { UNPRICED_COST } from "./access/access.ts";
import type { Fallback } from "./providers/attempt.ts";
import type { ServedModel } from "./providers/served-model.ts";

/**
 * The part of an answer's cost that counts against a budget. `cost` includes the models that failed before. The answer of a
 * model without a price costs what its provider reports, or else an estimate.
 */
export function billed(
  { spec }: ServedModel,
  cost: number,
  fallbacks: readonly Fallback[] = [],
): number {
  const others = fallbacks.reduce((sum, { cost: lost = 0 }) => sum + lost, 0);
  return spec.price || cost > others ? cost : UNPRICED_COST + others;
}
