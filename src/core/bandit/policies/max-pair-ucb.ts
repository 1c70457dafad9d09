import {
  argmaxPair,
  LINEAR_ABOUT,
  LINEAR_DEFAULTS,
  type LinearOptions,
  linearDuel,
  type PairRule,
} from "../linear-duel.ts";
import type { PolicyKind } from "../policy.ts";

type MaxPairUcbOptions = LinearOptions & { readonly beta: number };

/**
 * The pair whose sum of scores and whose uncertainty are largest together:
 * argmax_ij (phi_i + phi_j) . theta + beta |phi_i - phi_j|_Vinv, i = j included.
 */
function maxPairUcbRule({ beta }: Pick<MaxPairUcbOptions, "beta">): PairRule {
  return ({ f, width }, candidates, random) =>
    argmaxPair(candidates, (i, j) => f[i]! + f[j]! + beta * width(i, j), random);
}

export const maxPairUcb: PolicyKind<MaxPairUcbOptions> = {
  name: "max-pair-ucb",
  summary: "the pair with the largest sum of scores plus uncertainty of their difference",
  source: "Di et al. 2024, Variance-aware regret bounds for stochastic contextual dueling bandits",
  defaults: { ...LINEAR_DEFAULTS, beta: 2 },
  about: { ...LINEAR_ABOUT, beta: { meaning: "how much the pair's uncertainty counts", min: 0 } },
  create: (pool, options) => linearDuel(pool, options, maxPairUcbRule(options)),
};
