import type { VoteRequest } from "../../api/vote.ts";
import type { Verdict, Voted } from "../../store/events.ts";
import { HttpError } from "../wire/http-error.ts";
import { type Metrics, type MetricValue, ratingOf } from "./metrics.ts";

export interface Vote {
  /** Id of the decision. */
  readonly decision: string;
  /** One vote, or one for each metric. */
  readonly contents: readonly VoteContent[];
  readonly voter: string;
  readonly token: string | undefined;
}

interface VoteContent extends Pick<Voted, "verdict" | "weight" | "metric" | "comment"> {
  /** Whether the vote is about all answers of the session. */
  readonly isSession: boolean;
}

/** Reads a vote. `metrics` are those that joust.yaml declares. */
export function readVote(body: VoteRequest, metrics: Metrics = {}): Vote {
  const id = body.id ?? body.inference_id ?? body.trace_id;
  if (id === undefined) throw missing("id", "send the id that came with the answer");
  return {
    // The id of a completion contains the id of the decision.
    decision: id.replace(/^(chatcmpl|cmpl)-/, ""),
    contents: contentsOf(body, metrics),
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

/** Name of the metric of Portkey, whose feedback has no name. */
const UNNAMED = "value";

function contentsOf(body: VoteRequest, metrics: Metrics): VoteContent[] {
  const { winner, rating, slot, ranking, value, type, metric_name, comment } = body;
  const named: [string, MetricValue][] = Object.entries(body.metrics ?? {});
  if (value !== undefined) named.push([metric_name ?? UNNAMED, value]);
  const given = [winner ?? type, rating, ranking].filter((one) => one !== undefined);
  if (given.length > 1 || given.length + named.length === 0) {
    const hint = "send exactly one of winner (duel), rating (one answer) and ranking, or metrics";
    throw missing("winner", hint);
  }
  const inSlot = slot === undefined ? {} : { slot };
  const contents = named.map(([name, own]): VoteContent => {
    const verdict = { rating: ratingOf(metrics, name, own), ...inSlot };
    const { weight, level } = metrics[name]!;
    return { verdict, weight, metric: { name, value: own }, isSession: level === "session" };
  });
  if (given.length > 0) {
    const verdict: Verdict = ranking
      ? { ranking }
      : rating !== undefined
        ? { rating, ...inSlot }
        : { outcome: winner === undefined ? TYPES[type!] : WINNERS[winner] };
    contents.unshift({ verdict, weight: 1, isSession: false });
  }
  // The comment belongs to the feedback as a whole and is stored once.
  return contents.map((one, i) => (i === 0 && comment ? { ...one, comment } : one));
}

function missing(param: string, hint: string): HttpError {
  return new HttpError(400, `${param} is missing`, { hint, param, code: "missing_value" });
}
