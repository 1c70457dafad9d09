import {
  argmaxPair,
  LINEAR_ABOUT,
  LINEAR_DEFAULTS,
  linearDuel,
  type PairRule,
} from "../linear-duel.ts";
import type { PolicyKind } from "../policy.ts";

const DEFAULTS = { ...LINEAR_DEFAULTS, beta: 2 };

/**
 * MaxPairUCB: the pair argmax_ij (phi_i + phi_j) . theta + beta |phi_i - phi_j|_Vinv,
 * i = j included.
 */
function maxPairUcbRule({ beta }: typeof DEFAULTS): PairRule {
  return ({ f, width }, candidates, random) =>
    argmaxPair(candidates, (i, j) => f[i]! + f[j]! + beta * width(i, j), random);
}

export const maxPairUcb: PolicyKind<typeof DEFAULTS> = {
  name: "max-pair-ucb",
  summary: "duel between the pair with the largest sum of scores and uncertainty",
  source: "Di et al. 2024, Variance-aware regret bounds for stochastic contextual dueling bandits",
  defaults: DEFAULTS,
  about: { ...LINEAR_ABOUT, beta: { meaning: "weight of the uncertainty of the pair", min: 0 } },
  create: (pool, options) => linearDuel(pool, options, maxPairUcbRule(options)),
};
