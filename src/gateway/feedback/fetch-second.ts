import { isDuel, isLaterDuel } from "../../store/decision.ts";
import { timeOfId } from "../../store/decision-id.ts";
import type { DecisionRecord, Store } from "../../store/store.ts";
import { VoteRefused } from "../../store/store-error.ts";
import type { Caller } from "../access/access.ts";
import type { Clock } from "../clock/clock.ts";
import type { Flushable } from "../log/logged.ts";
import type { SecondAnswer, SecondAnswers } from "../log/second-answers.ts";
import type { Peers } from "../peers/peers.ts";
import { HttpError } from "../wire/http-error.ts";
import { decisionIdIn, findDecision } from "./find-decision.ts";
import type { VoteTokens } from "./vote-token.ts";
import { readToken } from "./votes.ts";

export interface SecondParts {
  readonly seconds: SecondAnswers;
  readonly voteTokens: VoteTokens;
  readonly store: Pick<Store, "decision" | "decisionNamed">;
  readonly log: Flushable;
  readonly clock: Clock;
  readonly peers: Pick<Peers, "ask">;
}

/** Answers the question of another process for the second answer of a decision. */
export async function secondHere(
  seconds: SecondAnswers,
  id: string,
): Promise<SecondAnswer | "evicted" | undefined> {
  const found = seconds.find(id);
  if (found) return found.answer;
  return seconds.isEvicted(id) ? "evicted" : undefined;
}

/**
 * GET /v1/decisions/{id}/second: the second answer of a duel, as JSON text, for the key that sent
 * the request or with its vote token. Waits while the model is still answering. `lifetime` is that
 * of vote tokens in milliseconds.
 */
export async function fetchSecond(
  parts: SecondParts,
  caller: Caller,
  { id: given, token }: { readonly id: string; readonly token: string | undefined },
  lifetime: number,
): Promise<string> {
  const { seconds, clock } = parts;
  const now = clock.date();
  const ballot = token === undefined ? undefined : await readToken(parts, token, given, now);
  const own = ballot?.id ?? decisionIdIn(given);
  // The memory is read first, so that the store is not needed.
  const { id, record } = seconds.find(own)
    ? { id: own, record: undefined }
    : await findDecision(parts, ballot?.owner ?? caller.owner, given);
  const found = seconds.find(id);
  const owner = found ? found.owner : record?.decision.owner;
  const isKnown = found !== undefined || record !== undefined;
  const isOwn = ballot !== undefined || (isKnown && (caller.isAdmin || caller.owner === owner));
  if (!isOwn) throw new VoteRefused("unknown");
  const answer = found ? await found.answer : await elsewhere(parts, id);
  if (answer === undefined || answer === "evicted") {
    throw absent(id, record, answer === "evicted" || seconds.isEvicted(id), now - lifetime);
  }
  if ("body" in answer) return answer.body;
  throw missing(answer.missing === "failed" ? "failed" : "too_large");
}

/** The second answer in the memory of another process of this machine. */
async function elsewhere(
  { peers }: SecondParts,
  id: string,
): Promise<SecondAnswer | "evicted" | undefined> {
  const answers = (await peers.ask("second", id)) as (SecondAnswer | "evicted" | undefined)[];
  return answers.find((one) => typeof one === "object") ?? answers.find((one) => one);
}

/** The error that says why an answer is not here. Tokens issued before `since` have expired. */
function absent(
  id: string,
  record: DecisionRecord | undefined,
  isEvicted: boolean,
  since: number,
): HttpError {
  if (record && !isLaterDuel(record.decision)) {
    return missing(isDuel(record.decision) ? "together" : "single");
  }
  if (isEvicted) return missing("evicted");
  if ((timeOfId(id) ?? since) <= since) return missing("expired");
  const second = record?.answers.find(({ slot }) => slot === 1);
  return missing(second && second.status !== "ok" ? "failed" : "not_here");
}

const TEXTS = {
  single: [
    "the decision has one answer",
    'only an answer with joust.duel "later" has a second one',
  ],
  together: [
    "both answers of this duel were in the response",
    "the client requested the duel, so that the response has both answers",
  ],
  failed: ["the second model gave no answer", "rate the first answer"],
  too_large: ["the second answer was too large to be kept", "rate the first answer"],
  expired: [
    "the second answer has expired",
    "fetch it while its vote token is valid (store.vote_token_days)",
  ],
  evicted: [
    "the second answer had to make room for newer ones",
    "fetch second answers soon; the gateway keeps the newest 10,000, or 64 MB",
  ],
  not_here: [
    "this node does not have the second answer",
    "it is in the memory of the node that gave the first answer, until that node stops",
  ],
} as const;

function missing(reason: keyof typeof TEXTS): HttpError {
  const [message, hint] = TEXTS[reason];
  return new HttpError(404, message, { hint, code: `second_${reason}`, param: "id" });
}
