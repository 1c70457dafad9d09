import { expect, it } from "vitest";
import { T0 } from "../events.fixture.ts";
import { eventually } from "../eventually.fixture.ts";
import { LeaseLost } from "../store-error.ts";
import type { Stores } from "./stores.fixture.ts";

/** Snapshots, and who may save them. */
export function leasesConform({ one, both }: Stores): void {
  const at = (position: number, over: object = {}) => ({
    router: "auto",
    position,
    at: T0 + position,
    hash: `h${position}`,
    state: Uint8Array.of(position, 255),
    ...over,
  });

  it("keeps the newest, finds an older one, and thins by age", async () => {
    const store = await one();
    const token = (await store.acquireLease("auto", "me", 60_000))!;
    expect(await store.snapshot("auto")).toBeUndefined();
    for (let n = 0; n < 8; n++) await store.saveSnapshot(at(n, { at: T0 + n * 1_200_000 }), token);
    // Three an hour: the first of each, and the newest.
    expect(await store.snapshotPositions("auto")).toEqual([0, 3, 6, 7]);
    const { state, ...rest } = (await store.snapshot("auto"))!;
    expect(rest).toEqual({ router: "auto", position: 7, at: T0 + 8_400_000, hash: "h7" });
    expect([...state]).toEqual([7, 255]);
    expect((await store.snapshot("auto", 5))!.position).toBe(3);
    expect(await store.snapshot("other")).toBeUndefined();
  });

  it("a lease that has not run out is nobody else's, unless it is taken by force", async () => {
    const [a, b] = await both();
    const first = (await a.acquireLease("auto", "a", 60_000))!;
    expect(await b.acquireLease("auto", "b", 60_000)).toBeUndefined();
    expect(await a.renewLease("auto", first, 60_000)).toBe(true);
    expect(await b.acquireLease("other", "b", 60_000)).toBe(1);
    expect(await b.acquireLease("auto", "b", 60_000, true)).toBe(first + 1);
    expect(await a.renewLease("auto", first, 60_000)).toBe(false);
  });

  it("who holds an old token cannot save", async () => {
    const [a, b] = await both();
    const old = (await a.acquireLease("auto", "a", 0))!;
    await eventually(() => b.acquireLease("auto", "b", 60_000)).toBe(old + 1);
    await expect(a.saveSnapshot(at(5), old)).rejects.toBeInstanceOf(LeaseLost);
    expect(await a.snapshot("auto")).toBeUndefined();
    expect(await a.renewLease("auto", old, 60_000)).toBe(false);
    await b.saveSnapshot(at(5), old + 1);
    expect((await a.snapshot("auto"))!.position).toBe(5);
  });

  it("who paused past the lease may go on if nobody has taken it", async () => {
    const store = await one();
    const token = (await store.acquireLease("auto", "a", 0))!;
    await store.saveSnapshot(at(5), token);
    expect(await store.renewLease("auto", token, 60_000)).toBe(true);
  });

  it("a lease given back is free at once", async () => {
    const [a, b] = await both();
    const token = (await a.acquireLease("auto", "a", 60_000))!;
    await a.releaseLease("auto", token);
    expect(await b.acquireLease("auto", "b", 60_000)).toBe(token + 1);
  });
}
