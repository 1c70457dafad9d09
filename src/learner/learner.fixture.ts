import { expect, onTestFinished } from "vitest";
import { newFiles } from "../store/folder.fixture.ts";
import { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { findPolicy, voted } from "./events.fixture.ts";
import type { FindPolicy, Fold } from "./fold.ts";
import { History } from "./history.ts";
import { Learner, type LearnerOptions } from "./learner.ts";

const newFile = newFiles();

/** A store that is closed after the test. */
export function openStore(): SqliteStore {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  return store;
}

/** A learner that is stopped after the test, which fails if the learner reported an error. */
export function newLearner(store: Store, over: Partial<LearnerOptions> = {}): Learner {
  const errors: unknown[] = [];
  const learner = new Learner({
    store,
    router: "auto",
    holder: "test",
    findPolicy,
    settings: { pollMs: 5, saveMs: 5 },
    onError: (error) => errors.push(error),
    ...over,
  });
  onTestFinished(async () => {
    await learner.stop();
    expect(errors).toEqual([]);
  });
  return learner;
}

/** Votes `from` up to but not including `to`. */
export const votes = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => voted(from + i));

/** The posterior after all votes up to a position, folded from the beginning of the log. */
export async function replayed(
  store: Store,
  until?: number,
  find: FindPolicy = findPolicy,
): Promise<Fold> {
  const history = new History(store, "auto", { findPolicy: find, snapshots: false });
  await history.replay(until);
  return history.fold;
}
