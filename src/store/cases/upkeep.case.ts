import { expect, it, onTestFinished } from "vitest";
import { answered, configured, routed, T0, vote } from "../events.fixture.ts";
import type { Event } from "../events.ts";
import { seal } from "../seal.ts";
import { BUCKET_MS } from "../tally.ts";
import { resultOf, type Stores } from "./stores.fixture.ts";

/** Pruning, keys, secrets and reopening a database. */
export function upkeepConforms({ one, both, fresh }: Stores): void {
  it("prunes old decisions and prompts, but not votes and counts", async () => {
    const store = await one();
    await store.append([configured()]);
    const ids = Array.from({ length: 20 }, (_, n) => n);
    const sealed = (n: number) => seal("?", `d${n}`, undefined);
    await store.append(ids.map((n) => routed(n, { prompt: sealed(n) })));
    await store.append(ids.map((n) => answered(n, 0)));
    await store.append(ids.slice(0, 5).map((n) => vote(n)));
    const votes = await store.learning("auto", 0, 100);
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    const tallies = await store.tallies(query);
    const report = await store.prune({ decisions: T0 + 10_000, prompts: T0 + 15_000 });
    expect(report).toEqual({ prompts: 15, decisions: 10, votes: 0 });
    expect(await store.decision("d9")).toBeUndefined();
    expect((await store.decision("d10"))!.answers).toHaveLength(1);
    expect(await store.prompt("d14")).toBeUndefined();
    expect(await store.prompt("d15")).toBeDefined();
    expect(await store.learning("auto", 0, 100)).toEqual(votes);
    expect(await store.tallies(query)).toEqual(tallies);
    // A vote on a deleted decision comes too late.
    expect((await store.append([vote(0)])).map(resultOf)).toEqual(["unknown"]);
  });

  it("prunes votes up to a snapshot, keeps that snapshot, and refuses the pruned votes afterwards", async () => {
    const store = await one();
    await store.append([configured()]);
    await store.append([1, 2, 3].flatMap((n) => [routed(n), vote(n)]));
    const votes = (await store.learning("auto", 0, 100)).slice(1);
    const upTo = votes[1]!.position;
    await expect(store.prune({ votes: { router: "auto", upTo } })).rejects.toThrow(/no snapshot/);
    const token = (await store.acquireLease("auto", "me", 60_000))!;
    const state = Uint8Array.of(1);
    const save = (position: number, at: number) =>
      store.saveSnapshot({ router: "auto", position, at, hash: "h", state }, token);
    await save(1, T0);
    await save(upTo, T0 + 1);
    expect(await store.prune({ votes: { router: "auto", upTo } })).toMatchObject({ votes: 2 });
    expect(await store.horizon("auto")).toBe(upTo);
    await save(votes[2]!.position, T0 + 2);
    expect(await store.snapshotPositions("auto")).toContain(upTo);
    expect((await store.learning("auto", 0, 100)).map(({ kind }) => kind)).toEqual([
      "configured",
      "voted",
    ]);
    expect((await store.append([vote(1), vote(3)])).map(resultOf)).toEqual(["unknown", "repeated"]);
  });

  it("never reuses a position", async () => {
    const store = await one();
    await store.append([configured()]);
    const log = async (event: Event) => {
      const [receipt] = await store.append([event]);
      return receipt?.status === "logged" ? receipt.position : Number.NaN;
    };
    const before = await log(routed(1));
    await store.prune({ decisions: T0 + 1e9 });
    expect(await log(routed(2))).toBeGreaterThan(before);
  });

  it("stores keys and creates a secret once", async () => {
    const [a, b] = await both();
    const key = { id: "k1", name: "web", hash: "ab", scopes: ["route"], createdAt: T0 };
    await a.saveKey(key);
    await a.saveKey({ ...key, id: "k2" });
    await b.saveKey({ ...key, revokedAt: T0 + 1 });
    expect(await a.keys()).toEqual([
      { ...key, revokedAt: T0 + 1 },
      { ...key, id: "k2" },
    ]);
    const [mine, theirs] = await Promise.all([a.secret("votes"), b.secret("votes")]);
    expect(Buffer.from(mine).equals(theirs)).toBe(true);
    expect(Buffer.from(await a.secret("other")).equals(mine)).toBe(false);
    expect(mine).toHaveLength(32);
  });

  it("has all data after it is opened again", async () => {
    const open = await fresh();
    const before = await open();
    await before.append([configured(), routed(1), vote(1)]);
    const events = await before.learning("auto", 0, 10);
    await before.close();
    await expect(before.head("auto")).rejects.toThrow();
    const after = await open();
    onTestFinished(() => after.close());
    expect(await after.learning("auto", 0, 10)).toEqual(events);
    expect((await after.append([vote(1)]))[0]!.status).toBe("repeated");
  });
}
