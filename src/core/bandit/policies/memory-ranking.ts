import { fitBradleyTerry } from "../bradley-terry.ts";
import { MEMORY_ABOUT, Memory, type MemoryState, type Votes } from "../memory.ts";
import type { About, Policy, Pool } from "../policy.ts";
import { type RankingOptions, rankingPolicy } from "../ranking.ts";

/** Options of a policy that fits Bradley-Terry ratings to past votes at every decision. */
export type MemoryRankingOptions = RankingOptions & Readonly<Record<"sd" | "memory", number>>;

/** The options beyond those of every ranking policy. */
export const MEMORY_RANKING_ABOUT: About<Pick<MemoryRankingOptions, "sd" | "memory">> = {
  sd: { meaning: "prior standard deviation of a rating, in logits", above: 0 },
  ...MEMORY_ABOUT,
};

/** Creates the policy. `votesFor` selects or weighs the past votes for a query. */
export function memoryRanking(
  pool: Pool,
  options: MemoryRankingOptions,
  votesFor: (memory: Memory, x: Float64Array) => Votes,
): Policy {
  const memory = new Memory(pool.centroids[0]!.length, options.memory);
  const zero = new Float64Array(pool.models.length);
  return rankingPolicy(pool, options, {
    rate: (x) => fitBradleyTerry(votesFor(memory, x), zero, options.sd ** -2),
    learn: (x, comparison, offset) => memory.add(x, comparison, offset),
    snapshot: () => memory.snapshot(),
    restore: (state, from) => memory.restore(state as MemoryState, from, pool.models),
  });
}
