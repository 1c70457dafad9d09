import { sigmoid } from "./btl.ts";
import { type Votes, voteAt } from "./memory.ts";
import type { Comparison } from "./policy.ts";

/** Points of rating in a logit: the expected score is 1 / (1 + 10^(-difference / 400)). */
export const POINTS_PER_LOGIT = 400 / Math.LN10;

/**
 * Elo's update after a comparison: R_a <- R_a + K (S_a - E_a), R_b the opposite.
 * `offset` (in points) is added to the difference that E_a is made of. A vote
 * that counts less moves less; none moves by more than K, the largest step that
 * the method dares.
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

/** The votes one after the other, in their order. */
export function replayElo(ratings: Float64Array, votes: Votes, K: number): void {
  for (let i = 0; i < votes.size; i++) {
    const vote = voteAt(votes, i);
    eloUpdate(ratings, vote, K, vote.offset * POINTS_PER_LOGIT);
  }
}
