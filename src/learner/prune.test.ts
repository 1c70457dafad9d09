import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { configured, routed, T0 } from "../store/events.fixture.ts";
import { newFiles } from "../store/folder.fixture.ts";
import { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store/store-error.ts";
import { forget, freeze, rollBack, thaw, weigh } from "./controls.ts";
import { findPolicy, voted } from "./events.fixture.ts";
import { type FindPolicy, type Fold, readState } from "./fold.ts";
import { History } from "./history.ts";
import { type PruneOptions, prune } from "./prune.ts";

const newFile = newFiles();

/** A router with ten votes, whose snapshots the test saves. */
async function start() {
  const store: Store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  await store.append([configured(), ...Array.from({ length: 10 }, (_, n) => voted(n))]);
  const token = (await store.acquireLease("auto", "test", 1e9))!;
  const save = async (find: FindPolicy = findPolicy) => {
    const fold = await folded(store, find);
    const { position } = fold;
    const snapshot = { position, at: T0 + position, hash: fold.hash(), state: fold.toBytes() };
    await store.saveSnapshot({ router: "auto", ...snapshot }, token);
    return fold;
  };
  return { store, save };
}

async function folded(store: Store, find: FindPolicy = findPolicy): Promise<Fold> {
  const history = new History(store, "auto", { findPolicy: find, snapshots: false });
  await history.replay();
  return history.fold;
}

const pruneVotes = (store: Store, over: Partial<PruneOptions> = {}) =>
  prune(store, "auto", { before: T0 + 60_000, votes: true, findPolicy, ...over });

/** The policies of a version that learns in another way. */
const findNext: FindPolicy = (name) => {
  const kind = findPolicy(name);
  return { ...kind, revision: (kind.revision ?? 0) + 1 };
};

describe("prune", () => {
  it("deletes old decisions, and votes up to a snapshot, except votes that wait for a thaw", async () => {
    const { store, save } = await start();
    await store.record([routed(0, { id: "old", at: T0 - 86_400_000 }), routed(50)]);
    await expect(pruneVotes(store)).rejects.toThrow(errorText(/no snapshot.*hint:/));
    await save();
    await freeze(store, "auto", T0 + 11_000);
    await store.append([voted(12), voted(13)]);
    await save();
    const before = await folded(store);
    expect(await pruneVotes(store, { before: T0 + 20_000 })).toMatchObject({
      decisions: 1,
      votes: 10,
    });
    expect(await store.decision("d50")).toBeDefined();
    expect((await folded(store)).hash()).toBe(before.hash());
    await thaw(store, "auto", T0 + 60_000, true);
    expect((await folded(store)).counts.votes).toBe(12);
  });

  it("keeps votes after the last readable snapshot", async () => {
    const { store, save } = await start();
    await save();
    await store.append([voted(12), voted(13)]);
    const token = (await store.acquireLease("auto", "test", 1e9, true))!;
    const damaged = { at: T0 + 13_000, hash: "h", state: Uint8Array.of(1, 2, 3) };
    await store.saveSnapshot({ router: "auto", position: 13, ...damaged }, token);
    expect(await pruneVotes(store)).toMatchObject({ votes: 10 });
  });

  it.each([
    [
      "that has learned votes rolled back since",
      (store: Store) => rollBack(store, "auto", { time: T0 + 4500 }, T0 + 20_000),
      findPolicy,
    ],
    [
      "that has learned votes of an excluded voter",
      (store: Store) => weigh(store, "auto", { voter: "v1", weight: 0 }, T0 + 20_000),
      findPolicy,
    ],
    [
      "of another configuration",
      (store: Store) => store.append([configured({ at: T0 + 20_000, options: { alpha: 1.9 } })]),
      findPolicy,
    ],
    ["of a version that learned in another way", async () => {}, findNext],
  ])("deletes no votes up to a snapshot %s", async (_, change, find) => {
    const { store, save } = await start();
    await save();
    await change(store);
    await store.append([voted(30)]);
    await expect(pruneVotes(store, { findPolicy: find })).rejects.toThrow(
      errorText(/no snapshot.*hint:/),
    );
    const fold = await save(find);
    // The last snapshot is too new for this time, and the one before it cannot be used.
    await expect(pruneVotes(store, { before: T0 + 15_000, findPolicy: find })).rejects.toThrow(
      errorText(/no snapshot.*hint:/),
    );
    expect((await pruneVotes(store, { findPolicy: find })).votes).toBeGreaterThan(0);
    expect((await folded(store, find)).hash()).toBe(fold.hash());
  });

  describe("keeps no record of a voter who is forgotten", () => {
    async function weighing() {
      const { store, save } = await start();
      await store.append([configured({ weighVoters: true }), voted(11)]);
      await save();
      return store;
    }

    /** A store that runs `other` before a query of controls is answered. */
    function racing(store: Store, other: () => Promise<unknown>): Store {
      return new Proxy(store, {
        get: (target, name) =>
          name === "controls"
            ? async (router: string) => {
                await other();
                return target.controls(router);
              }
            : Reflect.get(target, name).bind(target),
      });
    }

    async function recorded(store: Store) {
      const { state } = (await store.snapshot("auto"))!;
      return readState(state).posterior!.voters.records.map(([name]) => name);
    }

    const forgetVoter = (store: Store, voter: string) => forget(store, "auto", voter, T0 + 70_000);

    /** Forgets v1, which is refused while `other` happens, and again. Returns the recorded voters. */
    async function recordedAfter(store: Store, other: () => Promise<unknown>) {
      const during = forgetVoter(racing(store, other), "v1");
      await expect(during).rejects.toBeInstanceOf(StoreUnavailable);
      await forgetVoter(store, "v1");
      return recorded(store);
    }

    it("while votes are pruned", async () => {
      const store = await weighing();
      const names = await recordedAfter(store, () => pruneVotes(store));
      expect(names.length).toBeGreaterThan(0);
      expect(names).not.toContain("v1");
    });

    it("while another voter is forgotten", async () => {
      const store = await weighing();
      await pruneVotes(store);
      expect(await recorded(store)).toEqual(expect.arrayContaining(["v0", "v1"]));
      const names = await recordedAfter(store, () => forgetVoter(store, "v0"));
      expect(names).not.toContain("v0");
      expect(names).not.toContain("v1");
    });
  });
});
