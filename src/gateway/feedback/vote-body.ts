import type { VoteRequest } from "../../api/vote.ts";
import type { Verdict, Voted } from "../../store/events.ts";
import { HttpError } from "../wire/http-error.ts";
import { type Metrics, ratingOf, type SentMetric } from "./metrics.ts";

export interface Vote {
  /** Id of the answer, of its decision or of the client; undefined if the vote names only a session. */
  readonly id: string | undefined;
  readonly session: string | undefined;
  /** Whether the vote is about the last answer of the session. */
  readonly isLast: boolean;
  /** The vote, the metrics and the comment. */
  readonly contents: readonly VoteContent[];
  readonly voter: string;
  readonly token: string | undefined;
}

interface VoteContent extends Pick<Voted, "verdict" | "weight" | "metric"> {
  /** Whether the vote is about all answers of the session. */
  readonly isSession: boolean;
  /** Member of the body that has the value. */
  readonly param: string;
}

/** Reads a vote. `metrics` are those that joust.yaml declares. */
export function readVote(body: VoteRequest, metrics: Metrics = {}): Vote {
  const id = body.id ?? body.inference_id ?? body.trace_id;
  const session = body.session_id ?? body.episode_id;
  const isLast = body.last === true;
  // A vote token belongs to one decision.
  if (id === undefined && (session === undefined || body.vote_token !== undefined)) {
    throw body.vote_token === undefined
      ? missing("id", "send the id that came with the answer, or session_id and last: true")
      : missing(
          "id",
          "send the id of the answer that the vote token came with: the token replaces the API key, not the id",
        );
  }
  if (isLast && (id !== undefined || session === undefined)) {
    throw missing("session_id", "last: true needs a session_id and no id");
  }
  const contents = contentsOf(body, metrics);
  const isAboutSession = contents.every((one) => one.isSession || "comment" in one.verdict);
  if (id === undefined && !isLast && !isAboutSession) {
    const hint =
      "send last: true for the last one, or id, or declare the metric with level: session";
    throw missing("id", `the vote is about one answer: ${hint}`);
  }
  return {
    id,
    session,
    isLast,
    contents,
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

/** Name of TensorZero's feedback that is a text. */
const COMMENT = "comment";

function contentsOf(body: VoteRequest, metrics: Metrics): VoteContent[] {
  const { winner, rating, slot, ranking, value, type, metric_name = UNNAMED } = body;
  const named = Object.entries(body.metrics ?? {}).map(([name, own]): SentMetric => {
    const member = `metrics.${name}`;
    return { name, value: own, members: { name: member, value: member } };
  });
  if (typeof value === "string" && metric_name !== COMMENT) throw notText(metric_name);
  if (value !== undefined && typeof value !== "string") {
    named.push({ name: metric_name, value, members: { name: "metric_name", value: "value" } });
  }
  const comment = body.comment ?? (typeof value === "string" ? value : "");
  const outcome = winner === undefined ? { type } : { winner };
  const votes = Object.entries({ ...outcome, rating, ranking });
  const given = votes.flatMap(([name, one]) => (one === undefined ? [] : [name]));
  if (given.length > 1) throw several(given);
  if (given.length + named.length === 0 && comment === "") throw missing("winner", ONE_VOTE);
  const inSlot = slot === undefined ? {} : { slot };
  const contents = named.map((sent): VoteContent => {
    const verdict = { rating: ratingOf(metrics, sent), ...inSlot };
    const { name, value: own, members } = sent;
    const { weight, level } = metrics[name]!;
    const metric = { name, value: own };
    return { verdict, weight, metric, isSession: level === "session", param: members.value };
  });
  if (given.length > 0) {
    const verdict: Verdict = ranking
      ? { ranking }
      : rating !== undefined
        ? { rating, ...inSlot }
        : { outcome: winner === undefined ? TYPES[type!] : WINNERS[winner] };
    contents.unshift({ verdict, weight: 1, isSession: false, param: given[0]! });
  }
  if (comment !== "")
    contents.push({ verdict: { comment }, weight: 0, isSession: false, param: COMMENT });
  return contents;
}

const ONE_VOTE =
  "send exactly one of winner (duel), rating (one answer) and ranking, or metrics, or a comment";

function several(given: readonly string[]): HttpError {
  return new HttpError(400, `the vote has ${given.join(" and ")}`, {
    hint: ONE_VOTE,
    code: "invalid_value",
    param: given[1],
  });
}

function notText(name: string): HttpError {
  return new HttpError(400, `the metric ${JSON.stringify(name.slice(0, 64))} has a text as value`, {
    hint: 'send true, false or a number, or send the text with metric_name "comment"',
    code: "invalid_value",
    param: "value",
  });
}

function missing(param: string, hint: string): HttpError {
  return new HttpError(400, `${param} is missing`, { hint, param, code: "missing_value" });
}
