import { describe, expect, it } from "vitest";
import { joust } from "../core/bandit/policies/joust.ts";
import { configured, T0, xOf } from "../store/events.fixture.ts";
import { eventually } from "../store/eventually.fixture.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store/store-error.ts";
import { fromBytes, toBytes } from "./canonical.ts";
import { forget } from "./controls.ts";
import { findPolicy, voted, withModels } from "./events.fixture.ts";
import type { FindPolicy, FoldState } from "./fold.ts";
import { History } from "./history.ts";
import { newLearner, openStore, replayed, votes } from "./learner.fixture.ts";
import { checkSnapshot } from "./replay.ts";

describe("Learner", () => {
  it("folds new votes, publishes and saves the posterior, and leaves the rest to the next learner", async () => {
    const store = openStore();
    const published: number[] = [];
    const learner = newLearner(store, { onLearned: (fold) => published.push(fold.position) });
    learner.start();
    await store.append([configured(), ...votes(0, 20)]);
    const head = await store.head("auto");
    await eventually(() => learner.fold?.position).toBe(head);
    expect(published.at(-1)).toBe(head);
    await eventually(async () => (await store.snapshot("auto"))?.position).toBe(head);
    await store.append(votes(20, 25));
    await learner.stop();
    // The next learner continues and folds the votes logged before the stop.
    newLearner(store).start();
    const all = await replayed(store);
    await eventually(async () => (await store.snapshot("auto"))?.hash).toBe(all.hash());
    expect(all.counts.votes).toBe(25);
  });

  it("lets a second learner on the same file take over, after which the first cannot save", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 5)]);
    const settings = { pollMs: 5, saveMs: 5, leaseMs: 60_000 };
    const first = newLearner(store, { holder: "first", settings });
    first.start();
    await eventually(() => first.fold?.counts.votes).toBe(5);
    const second = newLearner(store, { holder: "second", settings });
    second.start();
    await eventually(() => second.fold?.counts.votes).toBe(5);
    await store.append(votes(5, 9));
    await eventually(() => second.fold?.counts.votes).toBe(9);
    await eventually(() => first.fold).toBeUndefined();
    // The first learner waits and takes over when the second one stops.
    await second.stop();
    await eventually(() => first.fold?.counts.votes).toBe(9);
  });

  it("saves after many votes at once, so that a node that is soon killed folds them once", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 1200)]);
    // The time until an ordinary save never passes.
    const learner = newLearner(store, { settings: { pollMs: 5, saveMs: 1e9 } });
    learner.start();
    await eventually(async () => (await store.snapshot("auto"))?.position).toBeGreaterThan(499);
    const history = new History(store, "auto", { findPolicy, snapshots: true });
    await history.open();
    while (await history.advance());
    expect(history.votesSeen).toBeLessThanOrEqual(1200 - 499);
    expect(history.fold.hash()).toBe((await replayed(store)).hash());
  });

  it("ignores a damaged snapshot", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 30)]);
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const fold = await replayed(store, 10);
    const state = fold.toBytes();
    const save = (position: number, bytes: Uint8Array) =>
      store.saveSnapshot(
        { router: "auto", position, at: T0 + position, hash: fold.hash(), state: bytes },
        token,
      );
    const good = new History(store, "auto", { findPolicy, snapshots: true });
    await save(10, state);
    await good.open();
    expect(good.fold.position).toBe(10);
    for (const damage of [
      (bytes: Uint8Array) => bytes.fill(7, 2000, 2008),
      (bytes: Uint8Array) => bytes.subarray(0, -5),
    ]) {
      await save(10, damage(state.slice()));
      const history = new History(store, "auto", { findPolicy, snapshots: true });
      await history.open();
      expect(history.fold.position).toBe(0);
      while (await history.advance());
      expect(history.fold.hash()).toBe((await replayed(store)).hash());
    }
    // Snapshots of version 0.1 have no checksum, so that reading them may fail in any way.
    for (let at = 0; at < state.length; at += 37) {
      await save(
        10,
        state.map((byte, i) => (i === at ? byte ^ (1 << (at % 8)) : byte)),
      );
      const history = new History(store, "auto", { findPolicy, snapshots: true });
      await history.open();
      const { position } = history.fold;
      expect([at, position, position && history.fold.hash()]).toEqual(
        position === 0 ? [at, 0, 0] : [at, 10, fold.hash()],
      );
    }
  });

  it.each([
    ["version 0.1, which did not save its method", (state: FoldState) => without(state, "method")],
    [
      "a version with another revision of the policy",
      (state: FoldState) => ({ ...state, method: { ...state.method, revision: 999 } }),
    ],
    [
      "a version with another default",
      (state: FoldState) => ({ ...state, method: { ...state.method, options: "[]" } }),
    ],
  ])("folds the votes again if the snapshot is from %s", async (_, edit) => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 30)]);
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const fold = await replayed(store, 10);
    const state = toBytes(edit(fromBytes(fold.toBytes()) as FoldState));
    const snapshot = { router: "auto", position: 10, at: T0 + 10, hash: fold.hash(), state };
    await store.saveSnapshot(snapshot, token);
    expect(await checkSnapshot(store, "auto", findPolicy, 31)).toMatchObject({ outdated: true });
    const history = new History(store, "auto", { findPolicy, snapshots: true });
    await history.open();
    expect(history.fold.position).toBe(0);
    while (await history.advance());
    const whole = await replayed(store);
    expect(history.fold.hash()).toBe(whole.hash());
    expect(history.fold.toBytes()).toEqual(whole.toBytes());
  });

  /**
   * If this fails after a change of a policy, then equal votes give another posterior than before: raise
   * the policy's `revision`, so that snapshots are learned again, and pin the new hash. After a change of
   * a default only the new hash is needed.
   */
  it("equal votes give the posterior that belongs to the policy's revision", async () => {
    const store = openStore();
    await store.append([configured({ policy: "joust", options: {} }), ...votes(0, 30)]);
    const fold = await replayed(store);
    expect([joust.revision, fold.hash()]).toEqual([
      4,
      "fc2fdc076ccfeb025dfd86e5d5e00ab50104656f4b8571cbecad23623a784e24",
    ]);
  });

  it("ignores a snapshot of an unknown policy", async () => {
    const store = openStore();
    await store.append([configured({ policy: "mine" }), ...votes(0, 10)]);
    const then = new History(store, "auto", { findPolicy: () => joust, snapshots: false });
    await then.replay();
    const { fold } = then;
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const { position } = fold;
    const snapshot = { position, at: T0, hash: fold.hash(), state: fold.toBytes() };
    await store.saveSnapshot({ router: "auto", ...snapshot }, token);
    await store.append([configured()]);
    const findKnown: FindPolicy = (name) => {
      if (name === "mine") throw new RangeError("unknown policy mine");
      return findPolicy(name);
    };
    const history = new History(store, "auto", { findPolicy: findKnown, snapshots: true });
    await history.open();
    while (await history.advance());
    expect(history.fold.hash()).toBe((await replayed(store)).hash());
    expect(history.fold.counts.votes).toBe(10);
  });

  it("continues where it was after the store was unavailable", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 10)]);
    let down = false;
    const flaky = new Proxy(store, {
      get(target, name: keyof Store) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== "function") return value;
        if (down && name !== "onChange") {
          return () => Promise.reject(new StoreUnavailable("gone"));
        }
        return (value as (...args: unknown[]) => unknown).bind(target);
      },
    });
    const learner = newLearner(flaky);
    learner.start();
    await eventually(() => learner.fold?.counts.votes).toBe(10);
    down = true;
    await store.append(votes(10, 20));
    await eventually(() => learner.fold).toBeUndefined();
    down = false;
    await eventually(() => learner.fold?.counts.votes).toBe(20);
    expect(learner.fold!.hash()).toBe((await replayed(store)).hash());
  });
});

describe("History", () => {
  it("starts from the horizon after older votes were pruned, with the same posterior", async () => {
    const store = openStore();
    // A short name may occur among the bytes of numbers by chance.
    const erased = "a voter whose name is erased";
    const named = votes(0, 40).map((vote) =>
      vote.voter === "v2" ? { ...vote, voter: erased } : vote,
    );
    await store.append([configured(), ...named]);
    const whole = (await replayed(store)).hash();
    const fold = await replayed(store, 20);
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const state = fold.toBytes();
    const snapshot = { router: "auto", position: 20, at: T0, hash: fold.hash(), state };
    await store.saveSnapshot(snapshot, token);
    expect(await store.prune({ votes: { router: "auto", upTo: 20 } })).toMatchObject({ votes: 19 });
    expect((await replayed(store)).hash()).toBe(whole);
    // Pruned votes of the voter can no longer be forgotten; later ones can.
    await store.forget("auto", "v1", T0);
    const after = await replayed(store);
    expect(after.hash()).not.toBe(whole);
    expect(after.counts.votes).toBe(19 + 21 - 4);
    // The name of a voter of pruned votes is erased from the snapshot that is left.
    const start = async () => Buffer.from((await store.snapshot("auto", 20))!.state);
    expect((await start()).includes(erased)).toBe(true);
    await forget(store, "auto", erased, T0);
    expect((await start()).includes(erased)).toBe(false);
    const again = await replayed(store);
    expect(again.router!.snapshot().voters.records.map(([name]) => name)).not.toContain(erased);
  });

  it("can be folded as if another policy had been configured", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 20)]);
    const adapt = (
      event: Parameters<NonNullable<ConstructorParameters<typeof History>[2]["adapt"]>>[0],
    ) => ({
      ...event,
      policy: "greedy",
      options: {},
    });
    const history = new History(store, "auto", { findPolicy, snapshots: false, adapt });
    await history.replay();
    const other = openStore();
    await other.append([configured({ policy: "greedy" }), ...votes(0, 20)]);
    expect(history.fold.hash()).toBe((await replayed(other)).hash());
  });

  it("skips votes on models that have left the pool and votes of another encoder", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 8)]);
    await store.append([configured({ pool: withModels(["ant", "bee", "eel"]) })]);
    await store.append([voted(8, { models: ["ant", "cat"], verdict: { outcome: "a" } })]);
    await store.append([voted(9, { models: ["ant", "eel"], verdict: { outcome: "a" } })]);
    await store.append([voted(10, { encoder: "other" }), voted(11, { x: xOf(1, 7) })]);
    const fold = await replayed(store);
    expect(fold.counts).toEqual({ votes: 9, retired: 1, foreign: 2 });
    expect(fold.router!.snapshot().policy.models).toEqual(["ant", "bee", "eel"]);
  });
});

function without<T, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = value;
  return rest;
}
