import { type Decision, isDuel, isLaterDuel } from "../../store/decision.ts";
import { timeOfId } from "../../store/decision-id.ts";
import type { Answered, Verdict, Voted } from "../../store/events.ts";
import { VoteRefused } from "../../store/store-error.ts";
import { HttpError } from "../wire/http-error.ts";

/** Everything about a decision that a vote on it needs. It comes from a vote token or from the decision's row. */
export interface Ballot
  extends Pick<
    Decision,
    | "id"
    | "router"
    | "at"
    | "owner"
    | "encoder"
    | "candidates"
    | "values"
    | "propensity"
    | "version"
    | "omitted"
  > {
  /** Embedding of the prompt; undefined if a token refers to an embedding that is stored. */
  readonly x?: Float64Array | undefined;
  /** Models of the answers that were shown, in their order; "" for an answer that failed. */
  readonly models: readonly string[];
  /** False if the decision has no row because it is not part of the sample. */
  readonly isKept: boolean;
  /** True if the client of a duel got the first answer at once, so that a rating is about that one. */
  readonly isLater?: boolean | undefined;
}

export type CompleteBallot = Ballot & { readonly x: Float64Array };

/** The ballot of a decision. `models` are the models that answered; by default, those that were chosen. */
export function ballotOf(
  decision: Omit<Decision, "x"> & Partial<Decision>,
  models: readonly string[] = decision.pair.slice(0, isDuel(decision) ? 2 : 1),
  isKept = true,
): Ballot {
  const { id, router, at, owner, encoder, candidates, values, propensity, version, x } = decision;
  const { omitted } = decision;
  const common = { id, router, at, owner, encoder, candidates, values, propensity, version };
  return {
    ...common,
    x,
    models,
    isKept,
    ...(omitted !== undefined && { omitted }),
    ...(isLaterDuel(decision) && { isLater: true }),
  };
}

/** Replaces the chosen models with those that answered: after a fallback, another model or none. */
export function withAnswers(ballot: Ballot, answers: readonly Answered[]): Ballot {
  const models = ballot.models.map((model, slot) => {
    const answer = answers.find((one) => one.slot === slot);
    if (!answer) return model;
    // A second answer that is fetched later is shown if it is complete.
    const isShown =
      slot === 1 && ballot.isLater ? answer.status === "ok" : answer.status !== "failed";
    return isShown ? answer.model : "";
  });
  return { ...ballot, models };
}

/** The models whose answers were shown. */
export function shownModels({ models }: Pick<Ballot, "models">): string[] {
  return models.filter((model) => model !== "");
}

/** Facts about a vote that its ballot does not have. */
export type VoteFacts = Pick<
  Voted,
  "at" | "voter" | "source" | "weight" | "byToken" | "metric" | "traits"
>;

/**
 * Makes the vote from a ballot and a verdict. Throws VoteRefused if the verdict does not
 * fit the answers, and HttpError if it does not say which answer it rates.
 */
export function voteOn(ballot: CompleteBallot, given: Verdict, facts: VoteFacts): Voted {
  const verdict = withSlot(ballot, given);
  const models = modelsVotedOn(ballot, verdict);
  const values = models.map((model) => ballot.values?.[ballot.candidates.indexOf(model)]);
  const { id: decision, router, at: decided, encoder, x, propensity, version } = ballot;
  return {
    kind: "voted",
    router,
    decision,
    verdict,
    encoder,
    x,
    models,
    ...(values.every((value) => value !== undefined) && { values }),
    decided,
    propensity,
    version,
    ...facts,
  };
}

/**
 * Adds the slot to a rating. If one answer of a duel failed, the rating is about the other. If
 * both were shown at once, the voter has to name the slot.
 */
function withSlot({ models, isLater }: Ballot, verdict: Verdict): Verdict {
  if (!("rating" in verdict)) return verdict;
  const { rating } = verdict;
  if (verdict.slot !== undefined) return { rating, slot: verdict.slot };
  const shown = models.flatMap((model, slot) => (model === "" ? [] : [slot]));
  if (shown.length < 2 || isLater) return { rating, slot: shown[0] ?? 0 };
  throw new HttpError(400, "the decision has two answers", {
    hint: "send slot (0 or 1) with the rating, or send winner instead",
    code: "missing_value",
    param: "slot",
  });
}

/** Models that the verdict is about. */
function modelsVotedOn(
  { models, candidates, omitted = 0 }: Ballot,
  verdict: Verdict,
): readonly string[] {
  if ("comment" in verdict) return [];
  if ("outcome" in verdict) {
    const [a, b] = models;
    if (b === undefined || (a !== "" && a === b)) throw new VoteRefused("single");
    if (a === "" || b === "") throw new VoteRefused("unanswered");
    return models;
  }
  if ("rating" in verdict) {
    if (!(verdict.rating >= -1 && verdict.rating <= 1)) throw new VoteRefused("invalid");
    const model = models[verdict.slot ?? 0];
    if (model === undefined || model === "") throw new VoteRefused("unanswered");
    return [model];
  }
  const { ranking } = verdict;
  const known = new Set([...candidates, ...models]);
  const isDistinct = new Set(ranking).size === ranking.length;
  // The learner skips votes on models that are not in the pool.
  const areCandidates = omitted > 0 || ranking.every((model) => known.has(model));
  if (!isDistinct || ranking.length < 2 || !areCandidates) {
    throw new VoteRefused("invalid");
  }
  return ranking;
}

/**
 * The row of a decision that is not part of the sample but was voted on. Statistics ignore it,
 * because the sample represents it already.
 */
export function restoredDecision(ballot: CompleteBallot): Decision {
  const { id, router, at, owner, encoder, x, candidates, models, values, ...rest } = ballot;
  const { propensity, version } = rest;
  const [first = "", second = first] = models;
  return {
    kind: "routed",
    id,
    router,
    at,
    owner,
    mode: "apply",
    encoder,
    x,
    candidates,
    pair: [first, second],
    propensity,
    seed: 0,
    version,
    values,
    lambda: 0,
    sample: 0,
  };
}

/** Whether the row of a decision that is not found may still be in the queue of a node. */
export function mayArrive(id: string, now: number): boolean {
  const time = timeOfId(id);
  return time !== undefined && Math.abs(now - time) < ARRIVAL_MS;
}

const ARRIVAL_MS = 10 * 60_000;
