import { InputError } from "../core/input/input-error.ts";
import type { PruneReport, Store } from "../store/store.ts";
import { type FindPolicy, isOutdated, readableState } from "./fold.ts";
import { VoteSchedule } from "./vote-schedule.ts";

export interface PruneOptions {
  /** Delete what is older than this time, in milliseconds since 1970. */
  readonly before: number;
  /** Whether to delete votes too. */
  readonly votes: boolean;
  readonly findPolicy: FindPolicy;
}

/**
 * Deletes the days of decisions that ended before a time and, if `votes` is set, votes too.
 * Votes are deleted up to the last snapshot before that time that the current configuration and
 * version can continue from. It is kept permanently as the new start of learning: no rollback can
 * go further back, voters of deleted votes cannot be forgotten, and a changed policy or changed
 * categories learn only from later votes. Votes that wait for a thaw are not deleted.
 */
export async function prune(
  store: Store,
  router: string,
  { before, votes, findPolicy }: PruneOptions,
): Promise<PruneReport> {
  if (!votes) return store.prune({ decisions: before });
  const last = await store.positionAt(router, before - 1);
  const schedule = new VoteSchedule(await store.controls(router), await store.head(router));
  for (const position of (await store.snapshotPositions(router)).toReversed()) {
    if (position > last || schedule.freezeAt(position) !== undefined) continue;
    const stored = await store.snapshot(router, position);
    // A damaged snapshot is not found, and the store returns an older one.
    if (stored?.position !== position) continue;
    const state = readableState(stored.state);
    // A snapshot may contain votes that were rolled back since, or have been learned with other weights of
    // voters, under another configuration, or by a version that learned in another way.
    if (!state || !schedule.continues(state) || isOutdated(state, schedule.base, findPolicy))
      continue;
    return store.prune({ decisions: before, votes: { router, upTo: position } });
  }
  throw new InputError(
    { file: router },
    "has no snapshot from before that time, so its votes are still needed",
    "run joust serve for a while first, or choose a later time",
  );
}
