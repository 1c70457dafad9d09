import { fitBradleyTerry } from "../bradley-terry.ts";
import { Memory, type MemoryState } from "../memory.ts";
import type { About, PolicyKind } from "../policy.ts";
import { RANKING_ABOUT, RANKING_DEFAULTS, rankingPolicy } from "../ranking.ts";

const DEFAULTS = { ...RANKING_DEFAULTS, gamma: 10, sd: 0.75, memory: 20_000 };

const ABOUT: About<typeof DEFAULTS> = {
  ...RANKING_ABOUT,
  gamma: {
    meaning: "the nearest vote weighs as much as gamma votes at a right angle to the query",
    min: 1,
  },
  sd: { meaning: "prior sd of a rating, in logits", above: 0 },
  memory: { meaning: "how many past comparisons are kept", integer: true, min: 2 },
};

/**
 * RouteLLM's similarity-weighted ranking (Ong et al. 2024, section 4.2):
 * Bradley-Terry fitted to all past comparisons, vote i weighing
 *
 *   omega_i = gamma^(1 + S(q, q_i)),   S = cos(q, q_i) / max_j cos(q, q_j).
 *
 * Deviations: the paper has no prior, so only ratios of weights matter to it;
 * we divide by gamma^2, which makes the nearest vote count as one against the
 * prior. It ranks tiers of models since its votes are few for each of 64; a
 * pool here is small, so every model has its own rating.
 */
export const swBradleyTerry: PolicyKind<typeof DEFAULTS> = {
  name: "sw-bradley-terry",
  summary: "Bradley-Terry fitted to all past comparisons, weighted by similarity",
  source: "RouteLLM (Ong et al. 2024)",
  defaults: DEFAULTS,
  about: ABOUT,
  create(pool, options) {
    const memory = new Memory(pool.centroids[0]!.length, options.memory);
    const zero = new Float64Array(pool.models.length);
    return rankingPolicy(pool, options, {
      rate(x) {
        const similarity = similarityWeights(memory.similarities(x), options.gamma);
        const weight = similarity.map((omega, i) => omega * memory.weight[i]!);
        const { size, a, b, win, offset } = memory;
        return fitBradleyTerry({ size, a, b, win, weight, offset }, zero, options.sd ** -2);
      },
      learn: (x, comparison, offset) => memory.add(x, comparison, offset),
      snapshot: () => memory.snapshot(),
      restore: (state, from) => memory.restore(state as MemoryState, from, pool.models),
    });
  },
};

/** gamma^(S - 1); where nothing points the same way as the query, all weigh the same. */
export function similarityWeights(cosines: Float64Array, gamma: number): Float64Array {
  const top = cosines.reduce((max, cosine) => Math.max(max, cosine), 0);
  return cosines.map((cosine) => gamma ** ((top > 0 ? cosine / top : 0) - 1));
}
