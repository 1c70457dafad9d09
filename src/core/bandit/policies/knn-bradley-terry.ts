import type { PolicyKind } from "../policy.ts";
import { RANKING_ABOUT, RANKING_DEFAULTS } from "../ranking.ts";
import {
  MEMORY_RANKING_ABOUT,
  type MemoryRankingOptions,
  memoryRanking,
} from "./memory-ranking.ts";

/**
 * Bradley-Terry on the k past comparisons whose queries are nearest: the
 * nearest-neighbour router with votes instead of scores. The prior keeps the ratings at
 * the told scores if the neighbours say little.
 */
export const knnBradleyTerry: PolicyKind<MemoryRankingOptions & { readonly k: number }> = {
  name: "knn-bradley-terry",
  summary: "Bradley-Terry ratings fitted to the k nearest past comparisons",
  source: "the k-NN router of RouterBench (Hu et al. 2024), on votes",
  defaults: { ...RANKING_DEFAULTS, k: 100, sd: 0.6, memory: 20_000 },
  about: {
    ...RANKING_ABOUT,
    k: { meaning: "number of nearest past comparisons", integer: true, min: 1 },
    ...MEMORY_RANKING_ABOUT,
  },
  create: (pool, options) =>
    memoryRanking(pool, options, (memory, x) => memory.nearest(x, options.k)),
};
