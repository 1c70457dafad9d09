import type { Logger } from "pino";
import type { VoteReceipt } from "../../api/vote.ts";
import { isDuel } from "../../store/decision.ts";
import type { Verdict, VoteRequest } from "../../store/events.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { DecisionRecord, Store } from "../../store/store.ts";
import { VoteRefused } from "../../store/store-error.ts";
import type { Caller } from "../access/access.ts";
import type { VoteTokens } from "../access/vote-token.ts";
import type { Clock } from "../clock/clock.ts";
import type { Feed } from "../log/feed.ts";
import { logged } from "../log/logged.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { HttpError } from "../wire/http-error.ts";
import type { Vote } from "./vote-body.ts";

/** Parts of the gateway that a vote passes through. */
export interface CastParts {
  readonly log: GroupCommit;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly feed: Feed;
  readonly logger: Logger;
}

export interface VoteParts extends CastParts {
  readonly voteTokens: VoteTokens;
  readonly clock: Clock;
}

/**
 * POST /v1/feedback: casts the vote of a caller with a key, or of a client with a vote token.
 * The vote is durable when this function returns.
 */
export async function receiveVote(
  parts: VoteParts,
  caller: Caller | undefined,
  { decision, voter, token, verdict }: Vote,
): Promise<VoteReceipt> {
  const now = parts.clock.date();
  if (token !== undefined && !parts.voteTokens.accepts(token, decision, now)) {
    throw new HttpError(403, "this vote token has expired or belongs to another decision", {
      hint: "use the token that came with the answer",
      code: "invalid_vote_token",
      param: "vote_token",
    });
  }
  // A vote token gives the right to vote on its decision, and an admin may vote on every decision.
  const owner = token !== undefined || caller?.isAdmin ? undefined : caller?.owner;
  return cast(parts, {
    kind: "vote",
    at: now,
    decision,
    // Voters of different keys are different people, even if they have the same name.
    voter: caller?.owner !== undefined && voter !== "" ? `${caller.owner}/${voter}` : voter,
    verdict: await withSlot(parts, decision, verdict, owner),
    source: "user",
    weight: 1,
    ...(owner !== undefined && { owner }),
  });
}

/** Logs a vote, counts it and publishes it. The store decides whether the vote is accepted. */
export async function cast(
  { metrics, feed, log, store, logger }: CastParts,
  request: VoteRequest,
): Promise<VoteReceipt> {
  const { source, decision } = request;
  try {
    const status = await log.vote(request);
    metrics.votes.inc({ source, status });
    const record = await store.decision(decision).catch(() => undefined);
    const models = record && shownModels(record);
    if (record && status === "logged") publish(feed, request, record, models);
    logger.debug({ decision, source, status }, "vote");
    return { id: decision, status, models };
  } catch (error) {
    metrics.votes.inc({ source, status: error instanceof VoteRefused ? "refused" : "failed" });
    throw error;
  }
}

function publish(
  feed: Feed,
  { decision: id, at, source, verdict }: VoteRequest,
  { decision: { router, owner } }: DecisionRecord,
  models: readonly string[] | undefined,
): void {
  // After the vote of a judge the models stay hidden, so that people vote without knowing them.
  const shown = source === "user" ? { models } : {};
  feed.publish(owner, () => ({
    type: "vote",
    data: { id, at, router, source, ...shown, ...verdict },
  }));
}

/** Models whose answers were shown, in their order; after a fallback, the model that answered. */
export function shownModels({ decision, answers }: DecisionRecord): string[] {
  return decision.pair
    .slice(0, isDuel(decision) ? 2 : 1)
    .map((model, slot) => answers.find((answer) => answer.slot === slot)?.model ?? model);
}

/**
 * Adds the slot to a rating of a duel. If one of the answers failed, the rating is about the
 * other. If both were shown, the voter has to name the slot.
 */
async function withSlot(
  { store, log }: Pick<CastParts, "store" | "log">,
  decision: string,
  verdict: Verdict,
  owner: string | undefined,
): Promise<Verdict> {
  if (!("rating" in verdict) || verdict.slot !== undefined) return verdict;
  await logged(log);
  const record = await store.decision(decision);
  if (!record || !isDuel(record.decision)) return verdict;
  const failed = record.answers.find(({ status }) => status === "failed");
  if (failed) return { ...verdict, slot: failed.slot === 0 ? 1 : 0 };
  // The store refuses a vote on somebody else's decision without revealing anything about it.
  if (owner !== undefined && record.decision.owner !== owner) return verdict;
  throw new HttpError(400, "the decision has two answers", {
    hint: "send slot (0 or 1) with the rating, or send winner instead",
    code: "missing_value",
    param: "slot",
  });
}
