import { fitBradleyTerry } from "../bradley-terry.ts";
import { Memory, type MemoryState } from "../memory.ts";
import type { PolicyKind } from "../policy.ts";
import { RANKING_DEFAULTS, rankingPolicy } from "../ranking.ts";

const DEFAULTS = {
  ...RANKING_DEFAULTS,
  /** How many past comparisons are fitted. */
  k: 100,
  /** Prior sd of a rating, in logits. */
  sd: 0.6,
  /** How many past comparisons are kept. */
  memory: 20_000,
};

/**
 * Bradley-Terry on the k past comparisons whose queries are nearest: the
 * nearest-neighbour router with votes in place of scores. The prior keeps
 * ratings at the told scores where the neighbours say little.
 */
export const knnBradleyTerry: PolicyKind<typeof DEFAULTS> = {
  name: "knn-bradley-terry",
  summary: "Bradley-Terry fitted to the k nearest past comparisons",
  source: "the k-NN router of RouterBench (Hu et al. 2024), on votes",
  defaults: DEFAULTS,
  create(pool, options) {
    const memory = new Memory(pool.centroids[0]!.length, options.memory);
    const zero = new Float64Array(pool.models.length);
    return rankingPolicy(pool, options, {
      rate: (x) => fitBradleyTerry(memory.nearest(x, options.k), zero, options.sd ** -2),
      learn: (x, comparison, offset) => memory.add(x, comparison, offset),
      snapshot: () => memory.snapshot(),
      restore: (state, from) => memory.restore(state as MemoryState, from, pool.models),
    });
  },
};
