import { describe, expect, it, onTestFinished } from "vitest";
import { joust } from "../core/bandit/policies/joust.ts";
import { Random } from "../core/random/random.ts";
import { configured, MODELS, T0, xOf } from "../store/events.fixture.ts";
import { eventually } from "../store/eventually.fixture.ts";
import { newFiles } from "../store/folder.fixture.ts";
import { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store/store-error.ts";
import { fromBytes, toBytes } from "./canonical.ts";
import { forget } from "./controls.ts";
import { findPolicy, voted, withModels } from "./events.fixture.ts";
import { type FindPolicy, Fold, type FoldState, hashOf } from "./fold.ts";
import { Follower } from "./follower.ts";
import { History } from "./history.ts";
import { Learner, type LearnerOptions } from "./learner.ts";
import { checkSnapshot } from "./replay.ts";

const newFile = newFiles();

function openStore(): SqliteStore {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  return store;
}

function newLearner(store: Store, over: Partial<LearnerOptions> = {}): Learner {
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

const votes = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => voted(from + i));

async function replayed(store: Store, until?: number): Promise<Fold> {
  const history = new History(store, "auto", { findPolicy, snapshots: false });
  await history.replay(until);
  return history.fold;
}

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
      3,
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

describe("Follower", () => {
  const serve = async (store: Store) => {
    const follower = new Follower({ store, router: "auto", findPolicy, pollMs: 5 });
    await follower.start();
    onTestFinished(() => follower.stop());
    return follower;
  };
  const hash = ({ serving }: Follower) => {
    const { policy, voters } = serving!.router.snapshot();
    return hashOf({ policy, voters });
  };

  it("serves the posterior that a learner has saved, on this node or another", async () => {
    const store = openStore();
    const follower = await serve(store);
    expect(follower.serving).toBeUndefined();
    newLearner(store).start();
    await store.append([configured(), ...votes(0, 30)]);
    const head = await store.head("auto");
    await eventually(() => follower.serving?.version).toBe(head);
    expect(hash(follower)).toBe((await replayed(store)).hash());
  });

  it("serves the posterior of its own learner before it is saved", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 5)]);
    const follower = await serve(store);
    const learner = newLearner(store, {
      settings: { pollMs: 5, saveMs: 1e9 },
      onLearned: (fold) => follower.adopt(fold),
    });
    learner.start();
    await eventually(() => follower.serving?.version).toBe(6);
    expect(await store.snapshot("auto")).toBeUndefined();
    expect(hash(follower)).toBe((await replayed(store)).hash());
  });

  it("serves a new model at once and keeps the posterior of the others and the state of the budget", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 30)]);
    const learner = newLearner(store);
    learner.start();
    const options = { store, router: "auto", findPolicy, pollMs: 5, settings: { budget: 0.5 } };
    const follower = new Follower(options);
    await follower.start();
    onTestFinished(() => follower.stop());
    await eventually(() => follower.serving?.version).toBe(31);
    await learner.stop();
    const candidates = MODELS.map((_, k) => k);
    const costs = Float64Array.of(1, 1, 1, 1);
    const { router } = follower.serving!;
    router.route({ x: xOf(1), candidates, costs }, Random.seeded(1));
    const { serving } = router.snapshot();
    await store.append([configured({ pool: withModels([...MODELS, "eel"]) })]);
    await eventually(() => follower.serving?.configuration.pool.models.length).toBe(5);
    const next = follower.serving!.router.snapshot();
    expect(next.serving).toEqual(serving);
    expect(follower.serving!.version).toBe(31);
    newLearner(store).start();
    await eventually(() => follower.serving?.version).toBe(32);
    expect(hash(follower)).toBe((await replayed(store)).hash());
  });

  it("never goes back to an older snapshot if the newest one has been erased", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 30)]);
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const save = async (position: number) => {
      const fold = await replayed(store, position);
      const content = { hash: fold.hash(), state: fold.toBytes() };
      await store.saveSnapshot({ router: "auto", position, at: T0 + position, ...content }, token);
    };
    await save(10);
    const older = (await store.snapshot("auto"))!;
    await save(20);
    let isErased = false;
    const erasing: Store = new Proxy<Store>(store, {
      get: (target, name) => {
        if (name === "snapshot" && isErased) return async () => older;
        if (name === "snapshotPositions" && isErased) return async () => [10, 30];
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const follower = new Follower({ store: erasing, router: "auto", findPolicy });
    await follower.load();
    expect(follower.serving?.version).toBe(20);
    isErased = true;
    await follower.load();
    expect(follower.serving?.version).toBe(20);
    expect(hash(follower)).toBe((await replayed(store, 20)).hash());
  });

  it("serves the prior after a change that restarts learning", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 30)]);
    const learner = newLearner(store);
    learner.start();
    const follower = await serve(store);
    await eventually(() => follower.serving?.version).toBe(31);
    await learner.stop();
    const { pool } = configured();
    const other = { ...pool, categories: ["x", "y", "z"] };
    await store.append([configured({ pool: other })]);
    await eventually(() => follower.serving?.configuration.position).toBe(32);
    const fresh = new Fold(findPolicy);
    fresh.begin({ ...configured({ pool: other }), position: 1 });
    expect(hash(follower)).toBe(fresh.hash());
    newLearner(store).start();
    await eventually(() => follower.serving?.version).toBe(32);
    expect(hash(follower)).toBe((await replayed(store)).hash());
    expect(hash(follower)).not.toBe(fresh.hash());
  });
});

function without<T, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { [key]: _, ...rest } = value;
  return rest;
}
