import type { Hypothesis } from "./block-posterior.ts";
import type { Pool } from "./policy.ts";

/** Returns the hypotheses about votes and told scores. They are equally likely before the first vote. */
export function hypothesesOf({ told }: Pool): Hypothesis[] {
  const scales = told ? SCALES : [UNTOLD_SCALE];
  const priors = told ? TRUST_LEVELS : SPREADS;
  const logPrior = -Math.log(priors.length);
  return scales.flatMap((scale) => priors.map((prior) => ({ scale, ...prior, logPrior })));
}

const SCALES = [1, 3, 10];
/** The told scores carry no information. */
const UNINFORMATIVE = { told: 0, toldSd: 0.5, cellSd: 0.2, correlation: 0.3 };
/**
 * Hypotheses about the told scores: they are right, roughly right, or carry no
 * information. The less they say, the wider the prior of theta is, and the more the
 * categories of one model are correlated.
 */
const TRUST_LEVELS = [
  { told: 1, toldSd: 0.05, cellSd: 0.03, correlation: 0 },
  { told: 1, toldSd: 0.2, cellSd: 0.12, correlation: 0 },
  UNINFORMATIVE,
];
/**
 * The vote scale if no score is told. Votes determine only the product of s and the
 * utilities, so the unit of utility has to be fixed: a small difference d means
 * P(preferred) - P(other preferred) = d, which gives s = 2 for votes without ties
 * (the policy corrects for ties). The unknown is then how far the models are apart,
 * which is the prior sd of theta. Assuming one sd and learning s instead would let
 * that sd decide the unit (docs/decisions/0005-unit-of-quality.md).
 */
export const UNTOLD_SCALE = 2;
const SPREADS = [0.15, 0.3, 0.6].map((cellSd) => ({ ...UNINFORMATIVE, toldSd: 0, cellSd }));
