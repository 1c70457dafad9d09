/** Errors of the store. The gateway converts them into HTTP responses in one place. */
import { JoustError } from "../core/errors/joust-error.ts";

/** The reason why a vote is refused. Clients must not be able to distinguish `unknown` from `foreign`. */
export type VoteRefusal = "unknown" | "foreign" | "changed" | "single" | "unanswered" | "invalid";

/** The member of a vote that each reason is about. */
const FIELDS: Record<VoteRefusal, string> = {
  unknown: "id",
  foreign: "id",
  changed: "id",
  single: "winner",
  unanswered: "id",
  invalid: "ranking",
};

const TEXTS: Record<VoteRefusal, [message: string, hint: string]> = {
  unknown: ["there is no decision with this id", "vote with the id of an answer of a router"],
  foreign: ["the decision belongs to another key", "vote with the key that sent the request"],
  changed: [
    "this voter has already voted differently on this decision, and the first vote counts",
    "vote on the next answer",
  ],
  single: ["the decision has only one answer", "send a rating from -1 to 1"],
  unanswered: ["an answer of the duel is missing", "rate the answer that arrived"],
  invalid: [
    "the vote does not fit the answers",
    "send a winner, a rating or a ranking of the decision's models",
  ],
};

export class VoteRefused extends JoustError {
  override readonly name = "VoteRefused";
  readonly reason: VoteRefusal;
  readonly param: string;
  /** Index of the refused vote among those that were sent together. */
  readonly index: number;

  constructor(reason: VoteRefusal, { index = 0, metric }: RefusedVote = {}) {
    const [message, hint] = metric ? textsOf(metric.name) : TEXTS[reason];
    super(message, { code: `vote_${reason}`, hint });
    this.reason = reason;
    this.param = metric?.param ?? FIELDS[reason];
    this.index = index;
  }
}

interface RefusedVote {
  readonly index?: number;
  /** The metric whose value differs from an earlier one, and the member of the body that has the value. */
  readonly metric?: { readonly name: string; readonly param: string };
}

function textsOf(metric: string): [message: string, hint: string] {
  return [
    `this voter has already sent another value of the metric ${metric}, and the first one counts; nothing of this request was stored`,
    `send the other values without ${metric}`,
  ];
}

/**
 * The database is unreachable, full or too slow. Nothing was acknowledged. The entries may or may not
 * be in the log, and sending them again is safe.
 */
export class StoreUnavailable extends JoustError {
  override readonly name = "StoreUnavailable";
  /** Seconds to wait before the next attempt. */
  readonly retryAfter: number;

  constructor(reason: string, retryAfter = 1) {
    super(`the store is unavailable: ${reason}`, {
      code: "store_unavailable",
      hint: `try again in ${retryAfter} s`,
    });
    this.retryAfter = retryAfter;
  }
}

/** Another node has become the router's learner, so this one must not save its posterior. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
  readonly router: string;

  constructor(router: string) {
    super(`another learner has taken over ${router}`);
    this.router = router;
  }
}
