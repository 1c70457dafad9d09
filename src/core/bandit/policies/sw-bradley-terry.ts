import type { PolicyKind } from "../policy.ts";
import { RANKING_ABOUT, RANKING_DEFAULTS } from "../ranking.ts";
import {
  MEMORY_RANKING_ABOUT,
  type MemoryRankingOptions,
  memoryRanking,
} from "./memory-ranking.ts";

/**
 * The similarity-weighted ranking of RouteLLM (Ong et al. 2024, section 4.2):
 * Bradley-Terry fitted to all past comparisons, in which vote i has the weight
 *
 *   omega_i = gamma^(1 + S(q, q_i)),   S = cos(q, q_i) / max_j cos(q, q_j).
 *
 * Deviations: the paper has no prior, so there only ratios of weights matter; we divide
 * by gamma^2, so that the nearest vote counts as one vote against the prior. The paper
 * ranks tiers of models, because it has few votes for each of 64 models; a pool here is
 * small, so every model has a rating of its own.
 */
export const swBradleyTerry: PolicyKind<MemoryRankingOptions & { readonly gamma: number }> = {
  name: "sw-bradley-terry",
  summary: "Bradley-Terry ratings fitted to all past comparisons, weighted by similarity",
  source: "RouteLLM (Ong et al. 2024)",
  defaults: { ...RANKING_DEFAULTS, gamma: 10, sd: 0.75, memory: 20_000 },
  about: {
    ...RANKING_ABOUT,
    gamma: {
      meaning: "number of votes on orthogonal queries that weigh as much as the nearest vote",
      min: 1,
    },
    ...MEMORY_RANKING_ABOUT,
  },
  create: (pool, options) =>
    memoryRanking(pool, options, (memory, x) => {
      const similarity = similarityWeights(memory.similarities(x), options.gamma);
      const weight = similarity.map((omega, i) => omega * memory.weight[i]!);
      const { size, a, b, win, offset } = memory;
      return { size, a, b, win, weight, offset };
    }),
};

/** Returns gamma^(S - 1), or equal weights if no past query points in the direction of this one. */
export function similarityWeights(cosines: Float64Array, gamma: number): Float64Array {
  const top = cosines.reduce((max, cosine) => Math.max(max, cosine), 0);
  return cosines.map((cosine) => gamma ** ((top > 0 ? cosine / top : 0) - 1));
}
