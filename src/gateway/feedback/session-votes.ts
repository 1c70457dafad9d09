import type { Store } from "../../store/store.ts";
import { VoteRefused } from "../../store/store-error.ts";
import type { Caller } from "../access/access.ts";
import { type Ballot, ballotOf, type CompleteBallot, withAnswers } from "./ballot.ts";

type Decisions = Pick<Store, "decision" | "decisions">;

/** Id of the newest decision of a session. Throws VoteRefused if the caller has no decision in it. */
export async function newestInSession(
  store: Decisions,
  caller: Caller | undefined,
  session: string,
): Promise<string> {
  const owner = caller?.isAdmin ? undefined : caller?.owner;
  const [newest] = await store.decisions({ owner, session, limit: 1 });
  if (!newest) throw new VoteRefused("unknown");
  return newest.decision.id;
}

/**
 * Id of the newest decision of a session, since a time, that the caller's key has got an answer
 * for. Throws VoteRefused if there is none.
 */
export async function lastAnswerIn(
  store: Decisions,
  caller: Caller | undefined,
  session: string,
  since: number,
): Promise<string> {
  const owner = caller?.owner;
  const page = await store.decisions({ owner, session, since, limit: RECENT });
  const last = page.find(({ answers }) => answers.some(({ status }) => status !== "failed"));
  if (!last) throw new VoteRefused("unknown");
  return last.decision.id;
}

/**
 * Number of requests of a session that are searched for its last answer. The newest ones may be
 * running or have failed.
 */
const RECENT = 32;

/**
 * The single answers of a ballot's session, which share the weight of a metric of level session.
 * A duel whose second answer is fetched later counts with its first answer. Other duels are left out,
 * because a metric of the session does not say which of two answers it is about. Throws VoteRefused if the session has only duels.
 */
export async function answersOfSession(
  store: Decisions,
  ballot: CompleteBallot,
): Promise<CompleteBallot[]> {
  const { id, router, owner } = ballot;
  const own = isSingle(ballot) ? [ballot] : [];
  const session = (await store.decision(id))?.decision.session;
  const page =
    session === undefined
      ? []
      : await store.decisions({ router, owner, session, limit: MOST_IN_SESSION, withX: true });
  const others = page.flatMap(({ decision, answers }): CompleteBallot[] => {
    const other = withAnswers(ballotOf(decision), answers);
    const isOther = decision.id !== id && decision.owner === owner;
    return isOther && isSingle(other) ? [{ ...other, x: decision.x! }] : [];
  });
  if (own.length + others.length === 0) throw new VoteRefused("unanswered");
  return [...own, ...others];
}

function isSingle({ models, isLater }: Ballot): boolean {
  return (models.length === 1 || isLater === true) && models[0] !== "";
}

/** Largest number of decisions of a session that a metric rates; the newest are taken. */
const MOST_IN_SESSION = 32;
