import { timeOfId } from "../../store/decision-id.ts";
import type { DecisionRecord, Store } from "../../store/store.ts";
import { type Flushable, loggedHere } from "../log/logged.ts";

/** The id of a decision, and its record if the store has it. */
export interface FoundDecision {
  readonly id: string;
  readonly record: DecisionRecord | undefined;
}

interface Parts {
  readonly store: Pick<Store, "decision" | "decisionNamed">;
  readonly log: Flushable;
}

/**
 * Finds a decision by its own id, by the id of its answer, or by an id that a client with the key
 * `owner` chose. An id of Joust's form is looked up as such first, any other form as the client's.
 */
export async function findDecision(
  { store, log }: Parts,
  owner: string | undefined,
  given: string,
): Promise<FoundDecision> {
  await loggedHere(log);
  const found = await lookUp(store, owner, given);
  if (found.record || !log.flushOthers || log.stats.down) return found;
  // The decision may wait in the queue of another process.
  await log.flushOthers();
  return lookUp(store, owner, given);
}

async function lookUp(
  store: Parts["store"],
  owner: string | undefined,
  given: string,
): Promise<FoundDecision> {
  const id = decisionIdIn(given);
  const isJousts = timeOfId(id) !== undefined;
  const own = isJousts ? await store.decision(id) : undefined;
  if (own) return { id, record: own };
  const named = await store.decisionNamed(owner ?? "", given);
  if (named !== undefined) return { id: named, record: await store.decision(named) };
  // Ids of version 0.1 have another form.
  return { id, record: isJousts ? undefined : await store.decision(id) };
}

/** The id of the decision in the id of an answer, which contains it. */
export function decisionIdIn(id: string): string {
  return id.replace(/^(chatcmpl-|cmpl-|msg_|resp_)/, "");
}
