import { type Counts, noCounts } from "../../store/tally.ts";

/** Cost of a window if one model had answered all of its requests, in US dollars. */
export interface AlwaysCost {
  readonly cost: number;
  /** Ends of the 95% interval. */
  readonly lo: number;
  readonly hi: number;
}

/**
 * Estimates the cost of "always one model" from its tallies of a window and those of all models.
 * Every answered request has added its expected cost to `always_cost` (Z) and to `always_doubt`
 * the standard deviation of errors that requests have in common. Of N requests, a share phi was
 * not answered by this model. Its n own answers, with expected cost X in total, show by how much
 * single answers deviate from their expectation (R, a sum of squares):
 *
 *   Var(cost) = doubt^2 + phi N (R / n) ((Z / N) / (X / n))^2
 */
export function alwaysCost(own: Counts = noCounts(), all: Counts): AlwaysCost | undefined {
  const N = all.priced;
  if (N === 0) return undefined;
  const { always_cost: cost, always_doubt: doubt, priced: n, expected, residual_sq: squares } = own;
  const missing = 1 - Math.min(1, n / N);
  // The squared coefficient of variation of one answer, which is not known after few answers.
  const known = expected > 0 ? (n * n * squares) / expected ** 2 : 0;
  const variation = (known + PRIOR_ANSWERS * USUAL_VARIATION) / (n + PRIOR_ANSWERS);
  const half = 1.96 * Math.sqrt(doubt ** 2 + (missing * variation * cost ** 2) / N);
  return { cost, lo: Math.max(0, cost - half), hi: cost + half };
}

const PRIOR_ANSWERS = 4;
const USUAL_VARIATION = 0.5;
