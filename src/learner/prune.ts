import { InputError } from "../core/input/input-error.ts";
import type { PruneReport, Store } from "../store/store.ts";
import { VoteSchedule } from "./vote-schedule.ts";

/**
 * Deletes the days of decisions that ended before a time and, if `votes` is set, votes too.
 * Votes are deleted up to the last snapshot before that time, which is kept permanently as the new
 * start of learning: no rollback can go further back, voters of deleted votes cannot be
 * forgotten, and a changed policy or changed categories learn only from later votes. Votes that
 * wait for a thaw are not deleted.
 */
export async function prune(
  store: Store,
  router: string,
  before: number,
  votes: boolean,
): Promise<PruneReport> {
  if (!votes) return store.prune({ decisions: before });
  const last = await store.positionAt(router, before - 1);
  const schedule = new VoteSchedule(await store.controls(router), await store.head(router));
  const positions = await store.snapshotPositions(router);
  // A snapshot may contain votes that were rolled back since, or have been learned with other weights of voters.
  const upTo = positions.findLast(
    (position) =>
      position <= last && schedule.hasPrefix(position) && !schedule.isFrozenAt(position),
  );
  if (upTo === undefined) {
    throw new InputError(
      { file: router },
      "has no snapshot from before that time, so its votes are still needed",
      "run joust serve for a while first, or choose a later time",
    );
  }
  return store.prune({ decisions: before, votes: { router, upTo } });
}
