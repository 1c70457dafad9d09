import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Random } from "../core/random/random.ts";
import { configured, MODELS, T0, xOf } from "../store/events.fixture.ts";
import { eventually } from "../store/eventually.fixture.ts";
import type { Store } from "../store/store.ts";
import { findPolicy, withModels } from "./events.fixture.ts";
import { type FindPolicy, Fold, hashOf } from "./fold.ts";
import { Follower } from "./follower.ts";
import { newLearner, openStore, replayed, votes } from "./learner.fixture.ts";

describe("Follower", () => {
  const serve = async (store: Store, find: FindPolicy = findPolicy) => {
    const follower = new Follower({ store, router: "auto", findPolicy: find, pollMs: 5 });
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

  it("reads each configuration once, so that a vote costs the same after many changes", async () => {
    const store = openStore();
    const controls = vi.spyOn(store, "controls");
    const follower = new Follower({ store, router: "auto", findPolicy });
    await store.append([configured(), ...votes(0, 2), configured({ seed: 2 })]);
    await follower.load();
    await store.append(votes(2, 3));
    await Promise.all([follower.load(), follower.load()]);
    const read = await Promise.all(controls.mock.results.map(({ value }) => value));
    expect(read.map((events) => events.length)).toEqual([2, 0, 0]);
    await store.append([configured({ seed: 3 })]);
    await Promise.all([follower.load(), follower.load()]);
    expect(follower.serving?.configuration.seed).toBe(3);
  });

  it("goes on with its own encoder while another node already has the next one", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 5)]);
    newLearner(store).start();
    const { encoder } = configured();
    const options = { store, router: "auto", findPolicy, encoder, pollMs: 5 };
    const follower = new Follower(options);
    await follower.start();
    onTestFinished(() => follower.stop());
    await eventually(() => follower.serving?.version).toBe(6);
    const learned = hash(follower);
    await store.append([configured({ encoder: "next" }), ...votes(5, 9)]);
    await eventually(async () => (await store.snapshot("auto"))?.position).toBe(11);
    await follower.load();
    expect(follower.serving).toMatchObject({ version: 6, configuration: { encoder } });
    expect(hash(follower)).toBe(learned);
    await store.append([configured({ seed: 2 })]);
    await follower.load();
    expect(follower.serving?.configuration).toMatchObject({ seed: 2, encoder });
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

  it.each([
    ["its own learner", true],
    ["the learner of another node", false],
  ])("serves the posterior of %s after an upgrade that learns in another way", async (_, isOwn) => {
    const store = openStore();
    await store.append([configured({ policy: "joust" }), ...votes(0, 30)]);
    const head = await store.head("auto");
    const before = newLearner(store);
    before.start();
    await eventually(() => before.fold?.position).toBe(head);
    await before.stop();
    const findNext: FindPolicy = (name) => {
      const kind = findPolicy(name);
      return { ...kind, revision: 999, defaults: { ...kind.defaults, ties: 0.25 } };
    };
    const [old, next] = [await replayed(store), await replayed(store, head, findNext)];
    expect(next.hash()).not.toBe(old.hash());
    const follower = await serve(store, findNext);
    // The old posterior is better than none.
    expect([follower.serving?.version, hash(follower)]).toEqual([head, old.hash()]);
    const after = newLearner(store, {
      findPolicy: findNext,
      ...(isOwn && {
        settings: { pollMs: 5, saveMs: 1e9 },
        onLearned: (fold: Fold) => follower.adopt(fold),
      }),
    });
    after.start();
    await eventually(() => hash(follower)).toBe(next.hash());
    expect(follower.serving?.version).toBe(head);
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

  it("starts with the prior if the snapshot cannot be read, until its own learner has learned from the log", async () => {
    const store = openStore();
    await store.append([configured(), ...votes(0, 30)]);
    const head = await store.head("auto");
    const token = (await store.acquireLease("auto", "test", 1e9))!;
    const damaged = { at: T0, hash: "h", state: Uint8Array.of(1, 2, 3) };
    await store.saveSnapshot({ router: "auto", position: head, ...damaged }, token);
    const follower = await serve(store);
    expect(follower.serving?.version).toBe(0);
    follower.adopt(await replayed(store));
    await eventually(() => follower.serving?.version).toBe(head);
    expect(hash(follower)).toBe((await replayed(store)).hash());
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
