import type { VoteRequest } from "../../api/vote.ts";
import type { Verdict } from "../../store/events.ts";
import { HttpError } from "../wire/http-error.ts";

export interface Vote {
  /** Id of the decision. */
  readonly decision: string;
  /** A rating without a slot refers to the only answer. */
  readonly verdict: Verdict;
  readonly voter: string;
  readonly token: string | undefined;
}

export function readVote(body: VoteRequest): Vote {
  const id = body.id ?? body.inference_id ?? body.trace_id;
  if (id === undefined) throw missing("id", "send the id that came with the answer");
  return {
    // The id of a completion contains the id of the decision.
    decision: id.replace(/^(chatcmpl|cmpl)-/, ""),
    verdict: verdictOf(body),
    voter: body.voter ?? "",
    token: body.vote_token,
  };
}

const WINNERS = { 0: "a", 1: "b", a: "a", b: "b", tie: "tie", both_bad: "both_bad" } as const;
const TYPES = {
  leftvote: "a",
  rightvote: "b",
  tievote: "tie",
  bothbad_vote: "both_bad",
} as const;

function verdictOf({ winner, rating, slot, ranking, value, type }: VoteRequest): Verdict {
  const rated = rating ?? (value === undefined ? undefined : ratingOf(value));
  const given = [winner ?? type, rated, ranking].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw missing("winner", "send exactly one of winner (duel), rating (one answer) and ranking");
  }
  if (ranking) return { ranking };
  if (rated !== undefined) return { rating: rated, ...(slot !== undefined && { slot }) };
  return { outcome: winner === undefined ? TYPES[type!] : WINNERS[winner] };
}

/** Converts true and false to 1 and -1, and Portkey's numbers from -10 to 10 to the range -1 to 1. */
function ratingOf(value: boolean | number): number {
  if (typeof value === "boolean") return value ? 1 : -1;
  return Math.abs(value) <= 1 ? value : value / 10;
}

function missing(param: string, hint: string): HttpError {
  return new HttpError(400, `${param} is missing`, { hint, param, code: "missing_value" });
}
