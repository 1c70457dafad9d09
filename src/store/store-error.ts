/** The ways in which a store says no. The gateway turns them into HTTP in one place. */
import { JoustError } from "../core/errors/joust-error.ts";

/** Why a vote does not count. `unknown` and `foreign` must look alike from outside. */
export type Refusal = "unknown" | "foreign" | "changed" | "single" | "unanswered" | "invalid";

const WORDS: Record<Refusal, [message: string, hint: string]> = {
  unknown: ["there is no such decision", "vote with the id that came with the answer"],
  foreign: ["the decision belongs to another key", "vote with the key that asked"],
  changed: [
    "this voter has voted otherwise on this decision already, and the first vote counts",
    "none is needed, vote on the next one",
  ],
  single: ["the decision has one answer", "rate it, {rating: -1..1}"],
  unanswered: ["not both answers of the duel came", "rate the one that did"],
  invalid: ["the vote fits none of the answers", "winner, rating or ranking of its models"],
};

export class VoteRefused extends JoustError {
  override readonly name = "VoteRefused";
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    const [message, hint] = WORDS[reason];
    super(message, { code: `vote_${reason}`, hint });
    this.reason = reason;
  }
}

/**
 * The database is gone, full or too slow. Nothing was acknowledged; what was
 * sent may or may not be logged, and sending it again is safe.
 */
export class StoreUnavailable extends JoustError {
  override readonly name = "StoreUnavailable";
  /** Seconds after which it is worth to try again. */
  readonly retryAfter: number;

  constructor(reason: string, retryAfter = 1) {
    super(`the store cannot be written: ${reason}`, {
      code: "store_unavailable",
      hint: `try again in ${retryAfter} s`,
    });
    this.retryAfter = retryAfter;
  }
}

/** Somebody else is the router's learner now: whatever this one has folded must not be saved. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly router: string;

  constructor(router: string) {
    super(`another learner has taken over ${router}`);
    this.router = router;
  }
}
