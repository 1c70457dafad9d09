import { expect, it, onTestFinished } from "vitest";
import { DAY_MS } from "../decision-id.ts";
import { answered, configured, routed, T0, vote } from "../events.fixture.ts";
import { monthOf } from "../tally.ts";
import { resultOf, type Stores } from "./stores.fixture.ts";

/** Pruning, keys, secrets and reopening a database. */
export function upkeepConforms({ one, both, fresh }: Stores): void {
  it("drops whole days of decisions, but not votes and counts", async () => {
    const store = await one();
    await store.append([configured(), vote(0), vote(1)]);
    const days = [0, 1, 2, 3];
    const at = (day: number) => T0 + day * DAY_MS + 1000;
    await store.record(
      days.flatMap((n) => [
        routed(n, { at: at(n) }),
        routed(10 + n, { at: at(n) }),
        answered(n, 0, { at: at(n), owner: "k1" }),
      ]),
    );
    const votes = await store.logEvents("auto", 0, 100);
    const query = { router: "auto", from: T0, to: T0 + 9 * DAY_MS, step: DAY_MS };
    const [tallies, spent] = [await store.tallies(query), await store.spent("k1", monthOf(T0))];
    expect(await store.prune({ decisions: T0 + 2.5 * DAY_MS })).toEqual({ decisions: 4, votes: 0 });
    expect(await store.decision("d1")).toBeUndefined();
    expect((await store.decision("d2"))!.answers).toHaveLength(1);
    expect(await store.routed({ router: "auto", limit: 9 })).toHaveLength(4);
    expect(await store.logEvents("auto", 0, 100)).toEqual(votes);
    expect(await store.tallies(query)).toEqual(tallies);
    expect(await store.spent("k1", monthOf(T0))).toBeCloseTo(spent, 12);
    // A vote on a deleted decision still counts, because it is complete.
    expect((await store.append([vote(10)])).map(resultOf)).toEqual(["logged"]);
    // An answer that arrives late creates its day again, which can be dropped again.
    await store.record([answered(1, 1, { at: at(1) })]);
    expect(await store.prune({ decisions: T0 + 2.5 * DAY_MS })).toEqual({ decisions: 0, votes: 0 });
    const late = await store.tallies({ ...query, to: T0 + 2 * DAY_MS });
    const answers = late.filter(({ model }) => model === "").map(({ counts }) => counts.answers);
    expect(answers).toEqual([1, 2]);
  });

  it("drops days that another node drops at the same time", async () => {
    const [a, b] = await both();
    await a.record([0, 1, 2].map((day) => routed(day, { at: T0 + day * DAY_MS })));
    const query = { router: "auto", from: T0, to: T0 + 9 * DAY_MS, step: DAY_MS };
    const tallies = await a.tallies(query);
    const what = { decisions: T0 + 3 * DAY_MS };
    await Promise.all([a.prune(what), b.prune(what)]);
    expect(await a.routed({ router: "auto", limit: 9 })).toEqual([]);
    expect(await b.tallies(query)).toEqual(tallies);
  });

  it("prunes votes up to a snapshot, keeps that snapshot, and refuses votes on earlier decisions afterwards", async () => {
    const store = await one();
    await store.append([configured()]);
    await store.append([1, 2, 3].map((n) => vote(n)));
    const votes = (await store.logEvents("auto", 0, 100)).slice(1);
    const upTo = votes[1]!.position;
    await expect(store.prune({ votes: { router: "auto", upTo } })).rejects.toThrow(/no snapshot/);
    const token = (await store.acquireLease("auto", "me", 60_000))!;
    const state = Uint8Array.of(1);
    const save = (position: number, at: number) =>
      store.saveSnapshot({ router: "auto", position, at, hash: "h", state }, token);
    await save(1, T0);
    await save(upTo, T0 + 2950);
    expect(await store.prune({ votes: { router: "auto", upTo } })).toMatchObject({ votes: 2 });
    expect(await store.horizon("auto")).toBe(upTo);
    await save(votes[2]!.position, T0 + 4000);
    expect(await store.snapshotPositions("auto")).toContain(upTo);
    expect((await store.logEvents("auto", 0, 100)).map(({ kind }) => kind)).toEqual([
      "configured",
      "voted",
    ]);
    const receipts = await store.append([vote(1), vote(2), vote(3), vote(4)]);
    expect(receipts.map(resultOf)).toEqual(["unknown", "unknown", "repeated", "logged"]);
    // Forgetting a voter keeps the snapshot that learning starts from.
    const start = { hash: "h", state: Uint8Array.of(2) };
    for (const [horizon, hash] of [
      [0, undefined],
      [upTo, "another"],
    ] as const) {
      await expect(
        store.forget("auto", "ann", T0 + 5000, { horizon, hash, start }),
      ).rejects.toThrow(/at the same time/);
    }
    const pruned = { horizon: upTo, hash: "h", start };
    expect(await store.forget("auto", "ann", T0 + 5000, pruned)).toBe(2);
    expect(await store.snapshotPositions("auto")).toEqual([upTo]);
    expect([...(await store.snapshot("auto"))!.state]).toEqual([2]);
  });

  it("never reuses a position", async () => {
    const store = await one();
    await store.append([configured(), vote(1)]);
    const before = await store.head("auto");
    await store.forget("auto", "ann", T0);
    await store.append([vote(2)]);
    expect(await store.head("auto")).toBeGreaterThan(before + 1);
  });

  it("stores keys, creates a secret once and deletes it", async () => {
    const [a, b] = await both();
    const limits = { budget: 5, rate: 60, concurrent: 20 };
    const key = { id: "k1", name: "web", hash: "ab", scopes: ["route"], ...limits, createdAt: T0 };
    expect(await a.addKey(key)).toBe(true);
    expect(await b.keys()).toEqual([key]);
    const [mine, theirs] = await Promise.all([a.secret("votes"), b.secret("votes")]);
    expect(Buffer.from(mine).equals(theirs)).toBe(true);
    expect(Buffer.from(await a.secret("other")).equals(mine)).toBe(false);
    expect(mine).toHaveLength(32);
    await a.deleteSecret("votes");
    expect(Buffer.from(await b.secret("votes")).equals(mine)).toBe(false);
  });

  it("has all data after it is opened again", async () => {
    const open = await fresh();
    const before = await open();
    await before.record([routed(1)]);
    await before.append([configured(), vote(1)]);
    const events = await before.logEvents("auto", 0, 10);
    await before.close();
    await expect(before.head("auto")).rejects.toThrow();
    const after = await open();
    onTestFinished(() => after.close());
    expect(await after.logEvents("auto", 0, 10)).toEqual(events);
    expect(await after.decision("d1")).toBeDefined();
    expect((await after.append([vote(1)]))[0]!.status).toBe("repeated");
  });
}
