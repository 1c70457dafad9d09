import { UNPRICED_COST } from "./access/access.ts";
import type { ServedModel } from "./providers/served-model.ts";

/** The cost of an answer that counts against a budget. */
export function billed({ spec }: ServedModel, cost: number): number {
  return spec.price ? cost : UNPRICED_COST;
}
