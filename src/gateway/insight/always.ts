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
 * single answers deviate from their expectation (R, a sum of squares), relative to their mean:
 *
 *   v = (R / n) / (X / n)^2,  Var(answers) = doubt^2 + phi v Z^2 / N
 *
 * A model that fails would be called again until it answers. For answers that cost P, its calls that
 * failed cost F, so "always one model" pays (1 + F / P) Z. A call that fails costs at most about as
 * much as an answer, P / n on average. With the second moment of an answer, a compound Poisson sum F
 * has at most the variance V(F) = F (P / n) (1 + v). Both the observed sum and the one of the requests
 * that other models answered are random:
 *
 *   Var(failures) = (phi Z / P)^2 V(F) + V(phi F Z / P)
 */
export function alwaysCost(own: Counts = noCounts(), all: Counts): AlwaysCost | undefined {
  const N = all.priced;
  if (N === 0) return undefined;
  const { always_cost: answers, always_doubt: doubt, priced: n, expected, residual_sq: R } = own;
  const missing = 1 - Math.min(1, n / N);
  // The squared coefficient of variation of one answer, which is not known after few answers.
  const known = expected > 0 ? (n * n * R) / expected ** 2 : 0;
  const variation = (known + PRIOR_ANSWERS * USUAL_VARIATION) / (n + PRIOR_ANSWERS);
  const { failed_cost: failed, cost: paid } = own;
  // A model that never answered would have answered the next call.
  const succeeded = Math.max(paid - failed, answers / N);
  const perDollar = succeeded > 0 ? failed / succeeded : 0;
  const scale = failed > 0 ? (missing * perDollar * answers) / failed : 0;
  const spread = (answers / N) * (1 + variation) * failed;
  const variance =
    (1 + perDollar) ** 2 * (doubt ** 2 + (missing * variation * answers ** 2) / N) +
    (scale ** 2 + scale) * spread;
  const cost = (1 + perDollar) * answers;
  const half = 1.96 * Math.sqrt(variance);
  return { cost, lo: Math.max(0, cost - half), hi: cost + half };
}

const PRIOR_ANSWERS = 4;
const USUAL_VARIATION = 0.5;
