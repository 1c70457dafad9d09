import type { Logger } from "pino";
import type { VoteReceipt } from "../../api/vote.ts";
import { isReservedVoter } from "../../learner/origin.ts";
import { DAY_MS } from "../../store/decision-id.ts";
import type { Verdict, Voted } from "../../store/events.ts";
import type { GroupCommit, LoggedReceipt } from "../../store/group-commit.ts";
import { revealsModels } from "../../store/hidden.ts";
import type { Store } from "../../store/store.ts";
import { StoreUnavailable, VoteRefused } from "../../store/store-error.ts";
import type { Caller } from "../access/access.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import type { Feed } from "../log/feed.ts";
import { logged } from "../log/logged.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { HttpError } from "../wire/http-error.ts";
import {
  type Ballot,
  ballotOf,
  type CompleteBallot,
  mayArrive,
  restoredDecision,
  shownModels,
  type VoteFacts,
  voteOn,
  withAnswers,
} from "./ballot.ts";
import { decisionIdIn, findDecision } from "./find-decision.ts";
import { answersOfSession, lastAnswerIn, newestInSession } from "./session-votes.ts";
import type { Vote } from "./vote-body.ts";
import type { VoteTokens } from "./vote-token.ts";

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
  readonly config: () => Pick<Config, "store">;
}

/**
 * POST /v1/feedback: casts the vote of a client with a vote token, or of a caller with a key. The
 * vote is durable when this function returns. If the database does not answer, the function
 * throws StoreUnavailable within about two seconds.
 */
export function receiveVote(
  parts: VoteParts,
  caller: Caller | undefined,
  vote: Vote,
): Promise<VoteReceipt> {
  // One limit for all steps. A vote that is still written afterwards can be sent again safely.
  return within(VOTE_MS, castAll(parts, caller, vote));
}

async function castAll(
  parts: VoteParts,
  caller: Caller | undefined,
  { id: given, session, isLast, voter, token, contents }: Vote,
): Promise<VoteReceipt> {
  const at = parts.clock.date();
  const named = given ?? (await inSession(parts, caller, session!, isLast));
  const ballot =
    token === undefined
      ? await ballotByKey(parts, caller, named, at)
      : await ballotByToken(parts, token, named, at);
  const { id } = ballot;
  const owner = caller?.owner ?? ballot.owner;
  const facts = {
    at,
    // Voters of different keys are different people, even if they have the same name.
    voter: owner !== undefined && voter !== "" ? `${owner}/${voter}` : checkVoter(voter),
    source: "user",
    ...(token !== undefined && { byToken: true }),
  } as const;
  const votes: (VoteToCast & Pick<Vote["contents"][number], "param">)[] = [];
  for (const { verdict, isSession, weight, param, ...rest } of contents) {
    const rated = isSession ? await answersOfSession(parts.store, ballot) : [ballot];
    const share = { ...facts, ...rest, weight: weight / rated.length };
    for (const one of rated) votes.push({ ballot: one, verdict, facts: share, param });
  }
  const receipts = await castTogether(parts, facts.source, votes).catch((error: unknown) => {
    const refused = error instanceof VoteRefused ? votes[error.index] : undefined;
    const name = refused?.facts.metric?.name;
    if (!(error instanceof VoteRefused) || error.reason !== "changed" || !name) throw error;
    throw new VoteRefused("changed", { metric: { name, param: refused!.param } });
  });
  if (!ballot.isKept) parts.log.log(restoredDecision(ballot));
  const isLogged = receipts.some(({ status }) => status === "logged");
  const isRevealed = ballot.models.length === 1 || contents.some(revealsModels);
  const learned = votes.filter((_, i) => receipts[i]!.isLearned).map(({ param }) => param);
  const unlearned = contents
    .filter(({ verdict, param }) => !("comment" in verdict) && !learned.includes(param))
    .map(({ param }) => param);
  return {
    id,
    status: isLogged ? "logged" : "repeated",
    ...(isRevealed && { models: shownModels(ballot) }),
    ...(unlearned.length > 0 && { not_learned: unlearned }),
  };
}

/** Id of the decision in a session that a vote is about: the last answered one, or the newest. */
async function inSession(
  { log, store, config, clock }: VoteParts,
  caller: Caller | undefined,
  session: string,
  isLast: boolean,
): Promise<string> {
  await logged(log);
  if (!isLast) return newestInSession(store, caller, session);
  if (log.stats.down) throw new StoreUnavailable("the last answer may not be stored yet");
  const { sample, vote_token_days: days } = config().store;
  if (sample < 1) throw notAllStored();
  return lastAnswerIn(store, caller, session, clock.date() - days * DAY_MS);
}

function notAllStored(): HttpError {
  return new HttpError(400, "the last answer of the session may not be stored", {
    hint: "store.sample in joust.yaml is below 1: send the vote token, or choose an id for each request",
    code: "not_all_stored",
    param: "last",
  });
}

/** The ballot in a vote token. The decision's row adds how its answers ended, if it can be read. */
async function ballotByToken(
  parts: VoteParts,
  token: string,
  given: string,
  now: number,
): Promise<CompleteBallot> {
  const { store } = parts;
  const ballot = await readToken(parts, token, given, now);
  const { id } = ballot;
  const found = within(EXTRA_MS, findDecision(parts, ballot.owner, id));
  const record = await found.then(
    (one) => one.record,
    () => undefined,
  );
  const known = record
    ? {
        ...withAnswers(ballot, record.answers),
        candidates: record.decision.candidates,
        omitted: record.decision.omitted,
      }
    : ballot;
  const values = record ? record.decision.values : ballot.values;
  const x = ballot.x ?? record?.decision.x ?? (await store.embedding(id));
  if (!x) throw new VoteRefused("unknown");
  return { ...known, values, x };
}

/**
 * The ballot in a vote token. Throws 403 if the token is invalid, or if it belongs to another
 * decision than the id.
 */
export async function readToken(
  { voteTokens, store }: Pick<VoteParts, "voteTokens"> & { readonly store: Names },
  token: string,
  given: string,
  now: number,
): Promise<Ballot> {
  const ballot = await voteTokens.read(token, now);
  if (ballot) {
    if (ballot.id === decisionIdIn(given)) return ballot;
    if (ballot.id === (await store.decisionNamed(ballot.owner ?? "", given))) return ballot;
  }
  throw new HttpError(403, "this vote token has expired or belongs to another decision", {
    hint: "use the token that came with the answer",
    code: "invalid_vote_token",
    param: "vote_token",
  });
}

type Names = Pick<Store, "decisionNamed">;

/** The ballot in the decision's row, for a caller who may vote on it. */
async function ballotByKey(
  parts: VoteParts,
  caller: Caller | undefined,
  given: string,
  now: number,
): Promise<CompleteBallot> {
  const { store, log } = parts;
  const { id, record } = await findDecision(parts, caller?.owner, given);
  if (!record) {
    // The row may wait in the queue of this node, or another node has not written it yet.
    if (log.stats.down || (store.shared && mayArrive(id, now))) {
      throw new StoreUnavailable("the decision is not stored yet");
    }
    throw new VoteRefused("unknown");
  }
  // An admin may vote on every decision.
  if (!caller?.isAdmin && caller?.owner !== record.decision.owner) throw new VoteRefused("foreign");
  const ballot = withAnswers(ballotOf(record.decision), record.answers);
  return { ...ballot, x: record.decision.x! };
}

/** Rejects with StoreUnavailable if the store does not answer in time. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new StoreUnavailable("the database does not answer");
    timer = setTimeout(() => reject(error), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Longest time that a vote takes. */
const VOTE_MS = 1900;
/** Longest time to wait for data that a vote can do without. */
const EXTRA_MS = 400;

/** Names of judges and signals are reserved: a vote of a person must not look like one of theirs. */
function checkVoter(voter: string): string {
  if (!isReservedVoter(voter)) return voter;
  throw new HttpError(400, "names of voters must not begin with judge: or signal:", {
    hint: "choose another name",
    code: "invalid_value",
    param: "voter",
  });
}

/** A verdict on the answers of a ballot. */
interface VoteToCast {
  readonly ballot: CompleteBallot;
  readonly verdict: Verdict;
  readonly facts: VoteFacts;
}

/** Logs a vote, counts it and publishes it. Throws VoteRefused if it does not fit the ballot or the ballot was used. */
export async function cast(
  parts: CastParts,
  ballot: CompleteBallot,
  verdict: Verdict,
  facts: VoteFacts,
): Promise<void> {
  await castTogether(parts, facts.source, [{ ballot, verdict, facts }]);
}

/** Casts several votes or, if one of them is refused, none. */
async function castTogether(
  { metrics, feed, log, logger }: CastParts,
  source: Voted["source"],
  casts: readonly VoteToCast[],
): Promise<LoggedReceipt[]> {
  try {
    const votes = casts.map(({ ballot, verdict, facts }) => voteOn(ballot, verdict, facts));
    const receipts = await log.votes(votes);
    for (const [i, { ballot, verdict }] of casts.entries()) {
      const { status } = receipts[i]!;
      if (!("comment" in verdict)) {
        metrics.votes.inc({ source, status });
        if (status === "logged") publish(feed, votes[i]!, ballot);
      }
      logger.debug({ decision: ballot.id, source, status }, "vote");
    }
    return receipts;
  } catch (error) {
    countError(metrics, source, error);
    throw error;
  }
}

function countError(metrics: Metrics, source: Voted["source"], error: unknown): void {
  metrics.votes.inc({ source, status: error instanceof VoteRefused ? "refused" : "failed" });
}

function publish(feed: Feed, vote: Voted, ballot: CompleteBallot): void {
  const { decision: id, at, router, source, verdict } = vote;
  // Otherwise the models stay hidden, so that people vote without knowing them.
  const isShown = ballot.models.length === 1 || revealsModels(vote);
  const shown = isShown ? { models: shownModels(ballot) } : {};
  feed.publish(ballot.owner, () => ({
    type: "vote",
    data: { id, at, router, source, ...shown, ...verdict },
  }));
}
