import { InputError } from "../core/input/input-error.ts";
import type { PruneReport, Store } from "../store/store.ts";
import { Script } from "./script.ts";

/**
 * Deletes what was logged before a time: prompts, decisions and answers and, if
 * `votes`, votes as well. Those go only as far as there is a snapshot of what
 * they have taught, which is kept for good and from then on the beginning: no
 * rollback before it, none of its votes forgotten, and another policy or other
 * categories learn from later votes alone. Votes kept while frozen stay.
 */
export async function prune(
  store: Store,
  router: string,
  before: number,
  votes: boolean,
): Promise<PruneReport> {
  if (!votes) return store.prune({ decisions: before, prompts: before });
  const last = await store.positionAt(router, before - 1);
  const script = new Script(await store.controls(router), await store.head(router));
  const positions = await store.snapshotPositions(router);
  const upTo = positions.findLast((position) => position <= last && !script.isFrozenAt(position));
  if (upTo === undefined) {
    throw new InputError(
      { file: router },
      "has no snapshot of before that time: its votes are needed",
      "let joust serve run a while, or take a later time",
    );
  }
  return store.prune({ decisions: before, prompts: before, votes: { router, upTo } });
}
