import { z } from "zod";
import type { Verdict } from "../../store/events.ts";
import { HttpError } from "../errors/http-error.ts";
import { checked } from "../wire/check.ts";
import { printable } from "../wire/printable.ts";

const ID = z.string().min(1).max(256);
const WINNER = z.union([z.literal([0, 1]), z.enum(["0", "1", "a", "b", "tie", "both_bad"])]);
const RATING = z.number().min(-1).max(1);

/** POST /v1/feedback. Besides our own names those that people type already. */
export const VOTE = z
  .object({
    id: ID.optional().describe("Of the completion or of the decision."),
    winner: WINNER.optional().describe("Of a duel: the better answer's index, tie or both_bad."),
    rating: RATING.optional().describe("Of one answer: -1 (bad) to 1 (good)."),
    slot: z.literal([0, 1]).optional().describe("Which answer is rated; the only one unless said."),
    ranking: z.array(ID).min(2).max(100).optional().describe("Names of models, the best first."),
    voter: printable(128)
      .optional()
      .describe("Who votes, if one key is many people's. Counts once a decision."),
    vote_token: z
      .string()
      .max(200)
      .optional()
      .describe("Instead of a key: it came with the answer."),
    // TensorZero: POST /feedback {metric_name, value, inference_id}
    inference_id: ID.optional(),
    metric_name: z.string().max(256).optional(),
    // Portkey: POST /v1/feedback {trace_id, value}
    trace_id: ID.optional(),
    value: z.union([z.boolean(), z.number().min(-10).max(10)]).optional(),
    // FastChat: leftvote, rightvote, tievote, bothbad_vote
    type: z.enum(["leftvote", "rightvote", "tievote", "bothbad_vote"]).optional(),
  })
  .describe("A vote: `id` with one of `winner`, `rating`, `ranking`.");

export interface Vote {
  readonly decision: string;
  /** A rating without a slot is of the only answer there is. */
  readonly verdict: Verdict;
  readonly voter: string;
  readonly token: string | undefined;
}

export function readVote(value: unknown): Vote {
  const body = checked(VOTE, value);
  const id = body.id ?? body.inference_id ?? body.trace_id;
  if (id === undefined) throw missing("id", "the id that came with the answer");
  return {
    // The completion's own id has the decision's in it.
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

function verdictOf({ winner, rating, slot, ranking, value, type }: z.output<typeof VOTE>): Verdict {
  const rated = rating ?? (value === undefined ? undefined : ratingOf(value));
  const given = [winner ?? type, rated, ranking].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw missing("winner", "exactly one of winner (of a duel), rating (of one answer), ranking");
  }
  if (ranking) return { ranking };
  if (rated !== undefined) return { rating: rated, ...(slot !== undefined && { slot }) };
  return { outcome: winner === undefined ? TYPES[type!] : WINNERS[winner] };
}

/** A thumb as true or false; numbers from -1 to 1 as they are, beyond as Portkey's -10 to 10. */
function ratingOf(value: boolean | number): number {
  if (typeof value === "boolean") return value ? 1 : -1;
  return Math.abs(value) <= 1 ? value : value / 10;
}

function missing(param: string, what: string): HttpError {
  return new HttpError(400, `${param} is missing`, {
    hint: `give ${what}`,
    param,
    code: "missing_value",
  });
}
