import { expect, it, onTestFinished, vi } from "vitest";
import { configured, T0 } from "../store/events.fixture.ts";
import type { Logged, Voted } from "../store/events.ts";
import { newFiles } from "../store/folder.fixture.ts";
import { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { addDuelVote, type DuelVotes, evaluate } from "./evaluate.ts";
import { findPolicy } from "./events.fixture.ts";
import { History } from "./history.ts";
import { replay } from "./replay.ts";
import { routedIn, votedIn, World } from "./world.fixture.ts";

const newFile = newFiles();

/** The log of a router that served a world for some rounds. */
async function servedLog(rounds: number): Promise<{ store: Store; world: World }> {
  const store = new SqliteStore(newFile(), Date.now);
  onTestFinished(() => store.close());
  const world = new World(1, 4);
  const { pool } = world;
  await store.append([configured({ pool, encoder: "world", weighVoters: false })]);
  for (const served of world.serve(rounds, 0.2, 1)) {
    const at = T0 + served.t * 1000;
    const decision = routedIn(world, served, at);
    await store.record([decision]);
    if (served.outcome) {
      await store.append([votedIn(decision, { outcome: served.outcome }, at)]);
    }
  }
  return { store, world };
}

it("folds a log again and reports leaderboards and the values of policies", async () => {
  const { store, world } = await servedLog(300);
  const result = (await replay(store, "auto", { findPolicy }))!;
  const votes = (await store.logEvents("auto", 0, 1000)).filter(
    ({ kind }) => kind === "voted",
  ).length;
  expect(result).toMatchObject({
    router: "auto",
    policy: "joust",
    position: await store.head("auto"),
    frozen: false,
    votes: { votes, void: 0, retired: 0, foreign: 0 },
    snapshot: null,
  });
  expect(result.leaderboards.map(({ category }) => category)).toEqual(world.pool.categories);
  for (const { models } of result.leaderboards) {
    const values = models.map(({ value }) => value!);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 9);
  }
  const all = result.leaderboards.flatMap(({ models }) => models);
  expect(all.reduce((sum, { wins }) => sum + wins, 0)).toBe(votes);
  expect(all.reduce((sum, { losses }) => sum + losses, 0)).toBe(votes);
  const names = result.evaluation!.targets.map(({ name }) => name);
  expect(names).toEqual(["joust", "always m0", "always m1", "always m2", "always m3"]);
  expect(result.evaluation).toMatchObject({ decisions: 300, votes });
  const [, ...costs] = result.evaluation!.costs;
  for (const [k, cost] of costs.entries()) expect(cost).toBeCloseTo((k + 1) / 1000, 12);
});

it("counts no win or loss of a vote that was skipped because of its model", async () => {
  const { store } = await servedLog(60);
  const before = (await replay(store, "auto", { findPolicy }))!;
  const [vote] = (await store.logEvents("auto", 0, 1000)).filter((event) => event.kind === "voted");
  for (const outcome of ["a", "b", "tie"] as const) {
    const models = ["left", vote!.models[1]!];
    await store.append([{ ...vote!, decision: `left-${outcome}`, models, verdict: { outcome } }]);
  }
  const after = (await replay(store, "auto", { findPolicy }))!;
  expect(after.votes).toEqual({ ...before.votes, retired: 3 });
  expect(after.leaderboards).toEqual(before.leaderboards);
});

it("chooses as the served policy did, apart from exploration", async () => {
  const { store } = await servedLog(60);
  const policy = { name: "twin", kind: "joust", options: {} };
  const { evaluation } = (await replay(store, "auto", { findPolicy, policy }))!;
  expect(evaluation!.targets[1]).toMatchObject({ name: "twin", gain: { mean: 0, lo: 0, hi: 0 } });
});

it("replays with another policy, or up to a time", async () => {
  const { store } = await servedLog(80);
  const policy = { name: "greedy", kind: "greedy", options: {} };
  const other = (await replay(store, "auto", { findPolicy, policy }))!;
  const own = (await replay(store, "auto", { findPolicy }))!;
  expect(other.policy).toBe("greedy");
  expect(other.hash).not.toBe(own.hash);
  expect(other.evaluation!.targets.map(({ name }) => name).slice(0, 2)).toEqual([
    "joust",
    "greedy",
  ]);
  const half = (await replay(store, "auto", { findPolicy, until: T0 + 40_000 }))!;
  expect(half.votes.votes).toBeLessThan(own.votes.votes);
  expect(half.evaluation!.decisions).toBeLessThan(45);
  expect(await replay(store, "auto", { findPolicy, until: T0 - 1 })).toBeUndefined();
});

it("evaluates only the newest decisions and starts from the snapshot before them", async () => {
  const { store } = await servedLog(120);
  const votes = new Map<string, DuelVotes>();
  const onVote = (vote: Logged<Voted>) => addDuelVote(votes, vote);
  const whole = new History(store, "auto", { findPolicy, snapshots: false, onVote });
  await whole.replay();
  const from = T0 + 60_000;
  const before = new History(store, "auto", { findPolicy, snapshots: false });
  await before.replay(await store.positionAt("auto", from - 1));
  const evaluateNewest = () =>
    evaluate(store, "auto", [{ name: "routing" }], votes, { findPolicy, from });
  const folded = (await evaluateNewest())!;
  expect(folded.decisions).toBeLessThan(120);
  expect(folded.votes).toBeLessThan(votes.size);

  const { position } = before.fold;
  const token = (await store.acquireLease("auto", "test", 1e9))!;
  const [hash, state] = [before.fold.hash(), before.fold.toBytes()];
  await store.saveSnapshot({ router: "auto", position, at: T0, hash, state }, token);
  const read = vi.spyOn(store, "logEvents");
  expect(await evaluateNewest()).toEqual(folded);
  for (const [, after] of read.mock.calls) expect(after).toBeGreaterThanOrEqual(position);
});

it("compares the learner's snapshot with the log", async () => {
  const { store } = await servedLog(30);
  const { hash, position } = (await replay(store, "auto", { findPolicy }))!;
  const token = (await store.acquireLease("auto", "test", 1e9))!;
  const state = Uint8Array.of(0);
  const save = (hash: string) =>
    store.saveSnapshot({ router: "auto", position, at: T0, hash, state }, token);
  await save(hash);
  expect((await replay(store, "auto", { findPolicy }))!.snapshot).toMatchObject({ matches: true });
  await save("another");
  expect((await replay(store, "auto", { findPolicy }))!.snapshot).toMatchObject({ matches: false });
});

it("reports how many votes do not count", async () => {
  const { store } = await servedLog(40);
  const before = (await replay(store, "auto", { findPolicy }))!;
  const to = await store.positionAt("auto", T0 + 20_000);
  await store.append([{ kind: "rolled_back", router: "auto", at: T0 + 50_000, to }]);
  await store.append([{ kind: "frozen", router: "auto", at: T0 + 50_001 }]);
  const after = (await replay(store, "auto", { findPolicy }))!;
  expect(after.frozen).toBe(true);
  expect(after.votes.void).toBeGreaterThan(0);
  expect(after.votes.votes + after.votes.void).toBe(before.votes.votes);
});

it("folds the log of an earlier version, whose options no longer exist", async () => {
  const { store, world } = await servedLog(60);
  const old = { rule: "pair", alpha: 2 };
  const { pool } = world;
  const before = (await replay(store, "auto", { findPolicy }))!;
  await store.append([
    configured({ pool, encoder: "world", weighVoters: false, options: old, at: T0 + 1e6 }),
  ]);
  const after = (await replay(store, "auto", { findPolicy }))!;
  expect(after.votes.votes).toBe(before.votes.votes);
  expect(after.hash).toBe(before.hash);
});
