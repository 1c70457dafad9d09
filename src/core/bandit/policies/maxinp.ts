import {
  argmaxPair,
  LINEAR_ABOUT,
  LINEAR_DEFAULTS,
  linearDuel,
  type PairRule,
} from "../linear-duel.ts";
import type { PolicyKind } from "../policy.ts";

const DEFAULTS = { ...LINEAR_DEFAULTS, c: 1 };

/**
 * Maximum informative pair (algorithm 1 of Saha 2021). The promising models are those
 * that no other model beats with confidence,
 *
 *   { i : (phi_i - phi_j) . theta + c |phi_i - phi_j|_Vinv >= 0 for all j },
 *
 * and the most uncertain pair of them is played, or one model twice if it is the only
 * one. The set is never empty, because it contains the model with the largest score.
 *
 * Our deviations: the radius of the paper, (1 / 2 kappa) sqrt(d/2 log(1 + 2T/d) +
 * log(1/delta)), is over 20 at d = 71, T = 720 and eliminates no model, so c is tuned.
 * The paper's initial rounds with random pairs, which make V invertible, are not needed
 * because V is regularised.
 */
function maxInPRule({ c }: typeof DEFAULTS): PairRule {
  return ({ f, width }, candidates, random) => {
    const promising = candidates.filter((i) =>
      candidates.every((j) => f[i]! - f[j]! + c * width(i, j) >= 0),
    );
    return argmaxPair(promising, width, random);
  };
}

export const maxInP: PolicyKind<typeof DEFAULTS> = {
  name: "maxinp",
  summary:
    "duel between the most uncertain pair of models that no other model beats with confidence",
  source: "Saha 2021, Optimal algorithms for stochastic contextual preference bandits",
  defaults: DEFAULTS,
  about: {
    ...LINEAR_ABOUT,
    c: { meaning: "radius of the confidence set (eta in the paper)", min: 0 },
  },
  create: (pool, options) => linearDuel(pool, options, maxInPRule(options)),
};
