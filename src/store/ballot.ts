import { isDeepStrictEqual } from "node:util";
import type { Voted } from "./events.ts";
import type { Receipt } from "./store.ts";

/**
 * The receipt of a vote whose ballot was used already. Only the first vote counts: afterwards the
 * model names are shown, so a second vote is no longer blind, and a vote cannot be unlearned
 * without folding the whole log again. Sending the same vote twice is safe.
 *
 * Both databases call this function under the lock that they append with.
 */
export function receiptOfUsedBallot(vote: Voted, earlierBody: string): Receipt {
  const { verdict, weight } = JSON.parse(earlierBody) as Pick<Voted, "verdict" | "weight">;
  return isDeepStrictEqual(verdict, vote.verdict)
    ? { status: "repeated", isLearned: weight !== 0 }
    : { status: "refused", reason: "changed" };
}

/**
 * True if votes on this decision may have been pruned, so that it cannot be told whether this one
 * is new. `horizonAt` is the time of the snapshot at the horizon.
 */
export function isBeforeHorizon({ decided }: Voted, horizonAt: number | undefined): boolean {
  return decided !== undefined && horizonAt !== undefined && decided <= horizonAt;
}

/**
 * A vote with the weight that it has after `earlier` others on the same decision. All votes on
 * one decision together teach no more than three, whatever names are used: otherwise one decision
 * and many invented voters could decide what the router learns. Later votes are logged, and
 * their weight is 0.
 */
export function withBoundedWeight(vote: Voted, earlier: number): Voted {
  return earlier < VOTES_PER_DECISION ? vote : { ...vote, weight: 0 };
}

/** Votes on one decision that count. */
export const VOTES_PER_DECISION = 3;
