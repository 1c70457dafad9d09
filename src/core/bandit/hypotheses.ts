import type { Hypothesis } from "./block-posterior.ts";
import type { Pool } from "./policy.ts";

/** What may be true of votes and of told scores, equally likely before the first vote. */
export function hypothesesOf({ told }: Pool): Hypothesis[] {
  const scales = told ? SCALES : [UNTOLD_SCALE];
  const opinions = told ? OPINIONS : SPREADS;
  const logPrior = -Math.log(opinions.length);
  return scales.flatMap((scale) => opinions.map((opinion) => ({ scale, ...opinion, logPrior })));
}

const SCALES = [1, 3, 10];
const WORTHLESS = { told: 0, toldSd: 0.5, cellSd: 0.2, correlation: 0.3 };
/**
 * What the told scores may be worth, equally likely before the first vote: they
 * are right, roughly right, or say nothing. The less they say the more is left
 * to votes, and then a model good at one thing is likely good at another.
 */
const OPINIONS = [
  { told: 1, toldSd: 0.05, cellSd: 0.03, correlation: 0 },
  { told: 1, toldSd: 0.2, cellSd: 0.12, correlation: 0 },
  WORTHLESS,
];
/**
 * Votes show s times utility and neither alone. Where nothing is told they set the
 * unit: a difference d of quality means that a net share d of the answers is
 * preferred, P(preferred) - P(the other is) = d, so s = 2 (of votes without ties;
 * the policy allows for ties). What is left to find out is how far models lie
 * apart, the prior sd of theta. To assume one sd and to learn s instead leaves the
 * unit to that sd (docs/decisions/0005-unit-of-quality.md).
 */
export const UNTOLD_SCALE = 2;
const SPREADS = [0.15, 0.3, 0.6].map((cellSd) => ({ ...WORTHLESS, toldSd: 0, cellSd }));
