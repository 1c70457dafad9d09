/** Operations on learning that commands and endpoints offer: freeze, thaw, roll back, weigh or forget a voter. */
import { InputError } from "../core/input/input-error.ts";
import type { Control, VoterWeighed } from "../store/events.ts";
import type { Pruned, Store } from "../store/store.ts";
import { toBytes } from "./canonical.ts";
import { hashOf, readState } from "./fold.ts";
import { inPages } from "./pages.ts";
import { VoteSchedule } from "./vote-schedule.ts";

/** Pauses learning. Later votes are logged but not learned. */
export async function freeze(store: Store, router: string, at: number): Promise<void> {
  if (await isFrozen(store, router)) {
    throw new InputError({ file: router }, "is already frozen", "thaw it to resume learning");
  }
  await log(store, { kind: "frozen", router, at });
}

/** Resumes learning. If `learn` is true, the votes logged during the freeze are learned too. */
export async function thaw(
  store: Store,
  router: string,
  at: number,
  learn: boolean,
): Promise<void> {
  if (!(await isFrozen(store, router))) {
    throw new InputError({ file: router }, "is not frozen", "no action is needed");
  }
  await log(store, { kind: "thawed", router, at, learn });
}

/** End of a rollback: the position of the last vote that stays, or a time up to which all votes stay. */
export type RollbackTarget = { readonly position: number } | { readonly time: number };

/**
 * Undoes everything learned after a position or a time. Returns the number of votes that no
 * longer count. Votes logged at or before a time are never undone, even if a clock was set back
 * and they come after votes with later times; a position names the last vote exactly.
 */
export async function rollBack(
  store: Store,
  router: string,
  target: RollbackTarget,
  at: number,
): Promise<number> {
  const to = "position" in target ? target.position : await store.positionAt(router, target.time);
  const horizon = await store.horizon(router);
  if (to < horizon) {
    throw new InputError(
      { file: router },
      `cannot be rolled back that far: votes up to position ${horizon} were pruned`,
      "roll back to a later time or position",
    );
  }
  const schedule = new VoteSchedule(await store.controls(router), await store.head(router));
  // Votes of a freeze are undone if the rollback undoes its thaw, even those before the last position that stays.
  const from = schedule.freezeAt(to) ?? to;
  let undone = 0;
  for await (const event of inPages(
    (after, limit) => store.logEvents(router, after, limit),
    from,
  )) {
    if (event.kind !== "voted" || "comment" in event.verdict) continue;
    const countsAt = schedule.countsAt(event);
    if (countsAt !== undefined && countsAt > to) undone++;
  }
  await log(store, { kind: "rolled_back", router, at, to });
  return undone;
}

/** A weight that was set, the one before it, and the position of the event; no position if the weight was the same. */
export interface Weighed {
  readonly before: number;
  readonly weight: number;
  readonly position?: number | undefined;
}

/**
 * Sets the weight of a voter, from 0 to 1, for all earlier and later votes. 0 excludes the voter, 1
 * includes the voter again. Learning starts again with the new weight.
 */
export async function weigh(
  store: Store,
  router: string,
  { voter, weight }: Pick<VoterWeighed, "voter" | "weight">,
  at: number,
): Promise<Weighed> {
  const [found] = await store.voters({ router, from: voter, limit: 1 });
  if (found?.voter !== voter) throw unknownVoter(router, voter);
  const schedule = new VoteSchedule(await store.controls(router), await store.head(router));
  const before = schedule.weightOf(voter);
  if (before === weight) return { before, weight };
  const [receipt] = await store.append([{ kind: "voter_weighed", router, at, voter, weight }]);
  const [now] = await store.voters({ router, from: voter, limit: 1 });
  if (found.votes > 0 && now?.voter === voter && now.votes === 0) {
    // The voter was forgotten in the meantime, so the name must not stay in the log.
    await store.forget(router, voter, at);
    await store.scrub();
    throw unknownVoter(router, voter);
  }
  return { before, weight, ...(receipt?.status === "logged" && { position: receipt.position }) };
}

function unknownVoter(router: string, voter: string): InputError {
  return new InputError(
    { file: router },
    voter === "" ? "has no votes without a name" : `has no vote of "${voter}"`,
    'use a name that "joust votes voters" or the page of voters lists; it starts with the id of the API key if one was used, for example key_1234/ann',
  );
}

/**
 * Erases all earlier votes of a voter and what was learned from them, and calls `record` with their number.
 * Then removes them from the files, and returns their number. Learning starts again without them, or from the
 * snapshot that remains of pruned votes.
 */
export async function forget(
  store: Store,
  router: string,
  voter: string,
  at: number,
  record: (votes: number) => Promise<void> = async () => {},
): Promise<number> {
  const pruned = await prunedWithout(store, router, voter);
  const controls = await store.controls(router);
  const isWeighed = controls.some(
    (event) => event.kind === "voter_weighed" && event.voter === voter,
  );
  const votes = await store.forget(router, voter, at, pruned);
  const isKnown = votes > 0 || isWeighed || pruned.start !== undefined;
  if (isKnown) await record(votes);
  // Also if nothing was erased, because an earlier call may have failed here.
  await store.scrub();
  if (!isKnown) throw unknownVoter(router, voter);
  return votes;
}

/**
 * Returns the horizon, and the snapshot there without the record of a voter if it has one. Knowledge
 * about the models from pruned votes stays, because it can no longer be separated.
 */
async function prunedWithout(store: Store, router: string, voter: string): Promise<Pruned> {
  const horizon = await store.horizon(router);
  const stored = horizon > 0 ? await store.snapshot(router, horizon) : undefined;
  const state = stored && readState(stored.state);
  const { posterior } = state ?? {};
  const others = posterior?.voters.records.filter(([name]) => name !== voter);
  if (!posterior || others!.length === posterior.voters.records.length) {
    return { horizon, hash: stored?.hash, start: undefined };
  }
  const changed = { ...posterior, voters: { ...posterior.voters, records: others! } };
  const start = { hash: hashOf(changed), state: toBytes({ ...state, posterior: changed }) };
  return { horizon, hash: stored?.hash, start };
}

async function isFrozen(store: Store, router: string): Promise<boolean> {
  return new VoteSchedule(await store.controls(router), await store.head(router)).isFrozen;
}

async function log(store: Store, event: Control): Promise<void> {
  await store.append([event]);
}
