import { isDeepStrictEqual } from "node:util";
import type { Answered, Routed, Verdict, Voted, VoteRequest } from "./events.ts";
import type { Row } from "./row.ts";
import type { Refusal } from "./store-error.ts";

/**
 * Whether a request to vote becomes a vote. One vote of a voter on a decision
 * counts, the first: after it the names are shown, so a second one is no longer
 * blind; and what a vote has taught is not unlearnt without folding the whole
 * log again. The same vote twice is one vote, acknowledged twice.
 *
 * Pure, and the same for every database, which finds what is `known` under the
 * lock that it appends with.
 */
export interface Known {
  /** Rows of Routed by decision, of Answered and Voted by decision. */
  readonly routed: ReadonlyMap<string, Row>;
  readonly answered: ReadonlyMap<string, readonly Pick<Row, "slot" | "body">[]>;
  readonly voted: ReadonlyMap<string, readonly Pick<Row, "voter" | "body">[]>;
}

export type Settled =
  | { readonly status: "new"; readonly row: Row; readonly vote: Omit<Voted, "x"> }
  | { readonly status: "repeated" }
  | { readonly status: "refused"; readonly reason: Refusal };

export function settle(request: VoteRequest, known: Known): Settled {
  const { decision, voter, verdict, owner } = request;
  const row = known.routed.get(decision);
  if (!row) return refused("unknown");
  if (owner !== undefined && owner !== row.owner) return refused("foreign");
  const earlier = known.voted.get(decision)?.find((vote) => vote.voter === voter);
  if (earlier) {
    const { verdict: first } = JSON.parse(earlier.body) as Voted;
    return isDeepStrictEqual(first, normal(verdict)) ? { status: "repeated" } : refused("changed");
  }
  const routed = JSON.parse(row.body) as Omit<Routed, "x">;
  const models = judged(verdict, routed, known.answered.get(decision) ?? []);
  if (typeof models === "string") return refused(models);
  const { at, source, weight } = request;
  const values = models.map((model) => routed.values?.[routed.candidates.indexOf(model)]);
  const body = {
    verdict: normal(verdict),
    source,
    weight,
    encoder: routed.encoder,
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

/** Slot 0 is the one meant where none is named. */
function normal(verdict: Verdict): Verdict {
  return "rating" in verdict ? { rating: verdict.rating, slot: verdict.slot ?? 0 } : verdict;
}

/**
 * The models that a verdict is about: those that answered in the end, which
 * after a fallback are not those that were chosen.
 */
function judged(
  verdict: Verdict,
  { pair, candidates }: Omit<Routed, "x">,
  answers: readonly Pick<Row, "slot" | "body">[],
): readonly string[] | Refusal {
  const ended = new Map(
    answers.map(({ slot, body }) => [slot, JSON.parse(body) as Pick<Answered, "model" | "status">]),
  );
  const modelOf = (slot: number) => {
    const answer = ended.get(slot);
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
  const known = new Set([...candidates, ...pair, ...[...ended.values()].map(({ model }) => model)]);
  const distinct = new Set(ranking).size === ranking.length;
  return distinct && ranking.length > 1 && ranking.every((model) => known.has(model))
    ? ranking
    : "invalid";
}
