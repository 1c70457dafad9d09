import { sigmoid } from "./btl.ts";
import { type Votes, voteAt } from "./memory.ts";
import type { Comparison } from "./policy.ts";

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
