import { isDeepStrictEqual } from "node:util";
import type { Decision } from "./decision.ts";
import type { Answered, Verdict, Voted, VoteRequest } from "./events.ts";
import type { Row } from "./row.ts";
import type { Refusal } from "./store-error.ts";

/** Rows of the log about one decision. */
export interface DecisionRows {
  readonly routed: Row | undefined;
  readonly answered: readonly Pick<Row, "slot" | "body">[];
  readonly voted: readonly Pick<Row, "voter" | "body">[];
}

export type Settled =
  | { readonly status: "new"; readonly row: Row; readonly vote: Omit<Voted, "x"> }
  | { readonly status: "repeated" }
  | { readonly status: "refused"; readonly reason: Refusal };

/**
 * Decides whether a vote request becomes a vote. Only the first vote of a voter on a decision
 * counts: afterwards the model names are shown, so a second vote is no longer blind, and a vote
 * cannot be unlearned without folding the whole log again. Sending the same vote twice is safe.
 *
 * The function is pure and the same for both databases, which look up `rows` under the lock
 * that they append with.
 */
export function settle(request: VoteRequest, rows: DecisionRows): Settled {
  const { decision, voter, verdict, owner, at, source, weight } = request;
  const row = rows.routed;
  if (!row) return refused("unknown");
  if (owner !== undefined && owner !== row.owner) return refused("foreign");
  const earlier = rows.voted.find((vote) => vote.voter === voter);
  if (earlier) {
    const { verdict: first } = JSON.parse(earlier.body) as Voted;
    return isDeepStrictEqual(first, withSlot(verdict))
      ? { status: "repeated" }
      : refused("changed");
  }
  const decided = JSON.parse(row.body) as Omit<Decision, "x">;
  const models = modelsVotedOn(verdict, decided, rows.answered);
  if (typeof models === "string") return refused(models);
  const values = models.map((model) => decided.values?.[decided.candidates.indexOf(model)]);
  const body = {
    verdict: withSlot(verdict),
    source,
    weight,
    encoder: decided.encoder,
    models,
    ...(values.every((value) => value !== undefined) && { values }),
  };
  const head = { kind: "voted", router: row.router, at, decision, voter } as const;
  return {
    status: "new",
    row: { ...head, slot: null, owner: null, session: null, x: row.x, body: JSON.stringify(body) },
    vote: { ...head, ...body } as Omit<Voted, "x">,
  };
}

function refused(reason: Refusal): Settled {
  return { status: "refused", reason };
}

/** Adds slot 0 to a rating that names no slot, so that equal verdicts compare as equal. */
function withSlot(verdict: Verdict): Verdict {
  return "rating" in verdict ? { rating: verdict.rating, slot: verdict.slot ?? 0 } : verdict;
}

/** Models that the verdict is about. After a fallback these differ from the models that were chosen. */
function modelsVotedOn(
  verdict: Verdict,
  { pair, candidates }: Omit<Decision, "x">,
  answered: DecisionRows["answered"],
): readonly string[] | Refusal {
  const answers = new Map(
    answered.map(({ slot, body }) => [
      slot,
      JSON.parse(body) as Pick<Answered, "model" | "status">,
    ]),
  );
  const modelOf = (slot: number) => {
    const answer = answers.get(slot);
    return answer ? (answer.status === "failed" ? undefined : answer.model) : pair[slot];
  };
  if ("outcome" in verdict) {
    const [a, b] = [modelOf(0), modelOf(1)];
    if (pair[0] === pair[1] || (a !== undefined && a === b)) return "single";
    return a === undefined || b === undefined ? "unanswered" : [a, b];
  }
  if ("rating" in verdict) {
    if (!(verdict.rating >= -1 && verdict.rating <= 1)) return "invalid";
    const model = modelOf(verdict.slot ?? 0);
    return model === undefined ? "unanswered" : [model];
  }
  const { ranking } = verdict;
  const known = new Set([
    ...candidates,
    ...pair,
    ...[...answers.values()].map(({ model }) => model),
  ]);
  const isDistinct = new Set(ranking).size === ranking.length;
  return isDistinct && ranking.length > 1 && ranking.every((model) => known.has(model))
    ? ranking
    : "invalid";
}
