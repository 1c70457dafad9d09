import { expect, it } from "vitest";
import { answered, routed, T0 } from "../events.fixture.ts";
import { eventually } from "../eventually.fixture.ts";
import { LeaseLost } from "../store-error.ts";
import { monthOf } from "../tally.ts";
import type { Stores } from "./stores.fixture.ts";

/** Snapshots, and the lease that allows a node to save them. */
export function leasesConform({ one, both }: Stores): void {
  const snapshotAt = (position: number, over: object = {}) => ({
    router: "auto",
    position,
    at: T0 + position,
    hash: `h${position}`,
    state: Uint8Array.of(position, 255),
    ...over,
  });

  it("keeps the newest snapshot, finds an older one and thins them by age", async () => {
    const store = await one();
    const token = (await store.acquireLease("auto", "me", 60_000))!;
    expect(await store.snapshot("auto")).toBeUndefined();
    for (let n = 0; n < 8; n++)
      await store.saveSnapshot(snapshotAt(n, { at: T0 + n * 1_200_000 }), token);
    // Three snapshots per hour: the first of each hour and the newest are kept.
    expect(await store.snapshotPositions("auto")).toEqual([0, 3, 6, 7]);
    const { state, ...rest } = (await store.snapshot("auto"))!;
    expect(rest).toEqual({ router: "auto", position: 7, at: T0 + 8_400_000, hash: "h7" });
    expect([...state]).toEqual([7, 255]);
    expect((await store.snapshot("auto", 5))!.position).toBe(3);
    expect(await store.snapshot("other")).toBeUndefined();
  });

  it("gives nodes parts of a budget, and never more than all of it", async () => {
    const [a, b] = await both();
    const ask = (node: string, want: number, more: object = {}) => ({
      owner: "k1",
      month: "2026-11",
      node,
      budget: 10,
      spent: 0,
      held: 0,
      want,
      milliseconds: 60_000,
      ...more,
    });
    expect(await a.leaseBudget(ask("a", 6))).toEqual({ granted: 6, used: 6 });
    expect(await b.leaseBudget(ask("b", 6))).toEqual({ granted: 4, used: 10 });
    expect((await b.leaseBudget(ask("c", 1))).granted).toBe(0);
    expect((await b.leaseBudget(ask("c", 1, { owner: "k2" }))).granted).toBe(1);
    expect((await b.leaseBudget(ask("c", 1, { month: "2026-12" }))).granted).toBe(1);
    // Node a has spent 2, holds 1 and gives 3 back.
    expect((await a.leaseBudget(ask("a", 0, { spent: 2, held: 1 }))).used).toBe(7);
    expect((await b.leaseBudget(ask("b", 9, { held: 4 }))).granted).toBe(3);
  });

  it("takes back a part of a budget when its lease has expired, except what was spent", async () => {
    const [a, b] = await both();
    const ask = (node: string, want: number, milliseconds: number, spent = 0) => ({
      ...{ owner: "k1", month: monthOf(T0), budget: 10, held: 0 },
      ...{ node, want, milliseconds, spent },
    });
    expect((await a.leaseBudget(ask("a", 8, -1, 1))).granted).toBe(8);
    expect((await b.leaseBudget(ask("b", 10, 60_000))).granted).toBe(9);
  });

  it("counts answers in the log against a budget, also those of nodes that are gone", async () => {
    const store = await one();
    await store.record([routed(0, { owner: "k1" }), answered(0, 0, { owner: "k1", cost: 7 })]);
    const request = { owner: "k1", month: monthOf(T0), node: "a", budget: 10, held: 0 };
    const { granted } = await store.leaseBudget({ ...request, spent: 2, want: 9, milliseconds: 9 });
    expect(granted).toBeCloseTo(3, 9);
  });

  it("a valid lease can only be taken by stealing it", async () => {
    const [a, b] = await both();
    const first = (await a.acquireLease("auto", "a", 60_000))!;
    expect(await b.acquireLease("auto", "b", 60_000)).toBeUndefined();
    expect(await a.renewLease("auto", first, 60_000)).toBe(true);
    expect(await b.acquireLease("other", "b", 60_000)).toBe(1);
    expect(await b.acquireLease("auto", "b", 60_000, true)).toBe(first + 1);
    expect(await a.renewLease("auto", first, 60_000)).toBe(false);
  });

  it("the holder of an old token cannot save", async () => {
    const [a, b] = await both();
    const old = (await a.acquireLease("auto", "a", 0))!;
    await eventually(() => b.acquireLease("auto", "b", 60_000)).toBe(old + 1);
    await expect(a.saveSnapshot(snapshotAt(5), old)).rejects.toBeInstanceOf(LeaseLost);
    expect(await a.snapshot("auto")).toBeUndefined();
    expect(await a.renewLease("auto", old, 60_000)).toBe(false);
    await b.saveSnapshot(snapshotAt(5), old + 1);
    expect((await a.snapshot("auto"))!.position).toBe(5);
  });

  it("an expired lease can be renewed if nobody has taken it", async () => {
    const store = await one();
    const token = (await store.acquireLease("auto", "a", 0))!;
    await store.saveSnapshot(snapshotAt(5), token);
    expect(await store.renewLease("auto", token, 60_000)).toBe(true);
  });

  it("a released lease is free at once", async () => {
    const [a, b] = await both();
    const token = (await a.acquireLease("auto", "a", 60_000))!;
    await a.releaseLease("auto", token);
    expect(await b.acquireLease("auto", "b", 60_000)).toBe(token + 1);
  });
}
