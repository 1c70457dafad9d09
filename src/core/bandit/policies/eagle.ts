import { inverse } from "../../linalg/linalg.ts";
import { evaluate, gaussian } from "../bradley-terry.ts";
import { sigmoid } from "../btl.ts";
import { MEMORY_ABOUT, Memory, type MemoryState, type Votes, voteAt } from "../memory.ts";
import { type About, alignModels, type Comparison, type PolicyKind } from "../policy.ts";
import { RANKING_ABOUT, RANKING_DEFAULTS, rankingPolicy } from "../ranking.ts";

const DEFAULTS = { ...RANKING_DEFAULTS, K: 32, N: 100, P: 0.2, sd: 0.75, memory: 20_000 };

const ABOUT: About<typeof DEFAULTS> = {
  ...RANKING_ABOUT,
  K: { meaning: "K of the Elo update; 32 in the paper", above: 0 },
  N: {
    meaning: "number of nearest past comparisons that are replayed; 20 in the paper",
    integer: true,
    min: 1,
  },
  P: { meaning: "weight of the global rating; 0.5 in the paper", min: 0, max: 1 },
  sd: {
    meaning:
      "prior standard deviation of a rating, in logits; it affects only the choice of the opponent",
    above: 0,
  },
  ...MEMORY_ABOUT,
};

/**
 * Eagle (Zhao et al. 2024): a global Elo rating over all votes, a local one that starts
 * from it and replays the votes on the N nearest past queries, and
 *
 *   Score = P * Global + (1 - P) * Local.
 *
 * Elo has no uncertainties. For the choice of the opponent we use the uncertainties of a
 * Bradley-Terry fit to the same N votes at these ratings.
 */
export const eagle: PolicyKind<typeof DEFAULTS> = {
  name: "eagle",
  summary: "global Elo ratings, combined with Elo replayed on the N nearest past comparisons",
  source: "Eagle (Zhao et al. 2024)",
  defaults: DEFAULTS,
  about: ABOUT,
  create(pool, options) {
    const { K, N, P, sd } = options;
    const memory = new Memory(pool.centroids[0]!.length, options.memory);
    const global = new Float64Array(pool.models.length);
    const zero = new Float64Array(pool.models.length);
    return rankingPolicy(pool, options, {
      rate(x) {
        const votes = memory.nearest(x, N);
        const local = global.slice();
        replayElo(local, votes, K);
        const logits = local.map((points, k) => {
          return (P * global[k]! + (1 - P) * points) / POINTS_PER_LOGIT;
        });
        const { information } = evaluate(votes, logits, zero, sd ** -2);
        return gaussian(logits, inverse(information, zero.length));
      },
      learn(x, comparison, offset) {
        eloUpdate(global, comparison, K, offset * POINTS_PER_LOGIT);
        memory.add(x, comparison, offset);
      },
      snapshot: () => ({ global: global.slice(), memory: memory.snapshot() }),
      restore(state, from) {
        const before = state as { global: Float64Array; memory: MemoryState };
        alignModels(from, pool.models).forEach((k, i) => {
          global[i] = before.global[k] ?? 0; // a new model starts at the mean, because Elo updates sum to 0
        });
        memory.restore(before.memory, from, pool.models);
      },
    });
  },
};

/** Elo points per logit: the expected score is 1 / (1 + 10^(-difference / 400)). */
export const POINTS_PER_LOGIT = 400 / Math.LN10;

/**
 * Elo's update after a comparison: R_a <- R_a + K (S_a - E_a), and the opposite for
 * R_b. `offset`, in points, is added to the rating difference in E_a. The step is
 * proportional to the weight of the vote, up to weight 1.
 */
export function eloUpdate(
  ratings: Float64Array,
  { a, b, win, weight }: Comparison,
  K: number,
  offset: number,
): void {
  const expected = sigmoid((ratings[a]! - ratings[b]! + offset) / POINTS_PER_LOGIT);
  const points = K * Math.min(1, weight) * (win - expected);
  ratings[a]! += points;
  ratings[b]! -= points;
}

/** Updates the ratings with the votes in their order. */
export function replayElo(ratings: Float64Array, votes: Votes, K: number): void {
  for (let i = 0; i < votes.size; i++) {
    const vote = voteAt(votes, i);
    eloUpdate(ratings, vote, K, vote.offset * POINTS_PER_LOGIT);
  }
}
