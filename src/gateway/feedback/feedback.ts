import type { Logger } from "pino";
import { isDuel } from "../../store/decision.ts";
import type { Verdict, VoteRequest } from "../../store/events.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { DecisionRecord, Store } from "../../store/store.ts";
import { VoteRefused } from "../../store/store-error.ts";
import type { Caller } from "../access/access.ts";
import type { VoteTokens } from "../access/vote-token.ts";
import type { Clock } from "../clock/clock.ts";
import { HttpError } from "../errors/http-error.ts";
import type { Feed } from "../log/feed.ts";
import { logged } from "../log/logged.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Vote } from "./vote-body.ts";

/** What a voter is told: that the vote is kept, and whom it was about. */
export interface Acknowledged {
  readonly id: string;
  readonly status: "logged" | "repeated";
  readonly models?: readonly string[] | undefined;
}

/** Parts of the gateway that cast a vote. */
export interface BallotBox {
  readonly log: GroupCommit;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly feed: Feed;
  readonly logger: Logger;
}

export interface VoteDesk extends BallotBox {
  readonly voteTokens: VoteTokens;
  readonly clock: Clock;
}

/** A vote by key (`caller`) or by its token. Durable when this returns. */
export async function feedback(
  gateway: VoteDesk,
  caller: Caller | undefined,
  vote: Vote,
): Promise<Acknowledged> {
  const { decision, voter, token } = vote;
  const now = gateway.clock.date();
  if (token !== undefined && !gateway.voteTokens.accepts(token, decision, now)) {
    throw new HttpError(403, "this vote token is not for this decision, or is too old", {
      hint: "use the one that came with the answer",
      code: "invalid_vote_token",
      param: "vote_token",
    });
  }
  // A token gives the right to its decision, and admin to all.
  const owner = token !== undefined || caller?.isAdmin ? undefined : caller?.owner;
  const request: VoteRequest = {
    kind: "vote",
    at: now,
    decision,
    // One key's people are not another's.
    voter: caller?.owner !== undefined && voter !== "" ? `${caller.owner}/${voter}` : voter,
    verdict: await withSlot(gateway, decision, vote.verdict, owner),
    source: "user",
    weight: 1,
    ...(owner !== undefined && { owner }),
  };
  return cast(gateway, request);
}

/** Casts a vote and tells all who count; the store decides whether it becomes one. */
export async function cast(gateway: BallotBox, request: VoteRequest): Promise<Acknowledged> {
  const { source, decision } = request;
  const { metrics, feed, log, store, logger } = gateway;
  try {
    const status = await log.vote(request);
    metrics.votes.inc({ source, status });
    const record = await store.decision(decision).catch(() => undefined);
    const models = record && shownModels(record);
    if (record && status === "logged") {
      const { router, owner } = record.decision;
      const { verdict, at } = request;
      feed.tell(owner, () => ({
        type: "vote",
        // After a judge's vote people are still to vote blind.
        data: {
          id: decision,
          at,
          router,
          source,
          ...(source === "user" && { models }),
          ...verdict,
        },
      }));
    }
    logger.debug({ decision, source, status }, "vote");
    return { id: decision, status, models };
  } catch (error) {
    metrics.votes.inc({ source, status: error instanceof VoteRefused ? "refused" : "failed" });
    throw error;
  }
}

/** Who answered in the end, in the order shown. */
export function shownModels({ decision, answers }: DecisionRecord): string[] {
  return decision.pair
    .slice(0, isDuel(decision) ? 2 : 1)
    .map((model, slot) => answers.find((answer) => answer.slot === slot)?.model ?? model);
}

/** Where one of two answers failed, the other is the one that is rated; of two the voter has to say which. */
async function withSlot(
  { store, log }: Pick<BallotBox, "store" | "log">,
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
  // Of others' decisions nothing is told: the store refuses these.
  if (owner !== undefined && record.decision.owner !== owner) return verdict;
  throw new HttpError(400, "the decision has two answers", {
    hint: "give slot, 0 or 1, of the one that is rated, or winner",
    code: "missing_value",
    param: "slot",
  });
}
