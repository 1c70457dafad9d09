import { fitBradleyTerry } from "../bradley-terry.ts";
import { Memory, type MemoryState } from "../memory.ts";
import type { About, PolicyKind } from "../policy.ts";
import { RANKING_ABOUT, RANKING_DEFAULTS, rankingPolicy } from "../ranking.ts";

const DEFAULTS = { ...RANKING_DEFAULTS, k: 100, sd: 0.6, memory: 20_000 };

const ABOUT: About<typeof DEFAULTS> = {
  ...RANKING_ABOUT,
  k: { meaning: "how many past comparisons are fitted", integer: true, min: 1 },
  sd: { meaning: "prior sd of a rating, in logits", above: 0 },
  memory: { meaning: "how many past comparisons are kept", integer: true, min: 2 },
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
  about: ABOUT,
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
