import { expect, it } from "vitest";
import { configured, T0, vote } from "../events.fixture.ts";
import type { LogEvent } from "../events.ts";
import { BUCKET_MS } from "../tally.ts";
import type { Stores } from "./stores.fixture.ts";

/** Votes and controls are logged once, atomically per append, and are read in log order. */
export function eventsConform({ one, both }: Stores): void {
  it("are returned unchanged, in log order", async () => {
    const store = await one();
    const events: LogEvent[] = [
      configured(),
      vote(1, { outcome: "tie" }, { voter: "\ud83d\ude00", cast: T0 }),
      { kind: "frozen", router: "auto", at: T0 + 1 },
      { kind: "thawed", router: "auto", at: T0 + 2, learn: true },
      { kind: "rolled_back", router: "auto", at: T0 + 3, to: 1 },
    ];
    const receipts = await store.append(events);
    const positions = receipts.map((r) => (r.status === "logged" ? r.position : 0));
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(new Set(positions).size).toBe(events.length);
    const found = await store.logEvents("auto", 0, 100);
    expect(found.map(({ position: _, ...event }) => event)).toEqual(events);
    expect(found.map(({ position }) => position)).toEqual(positions);
    expect(await store.controls("auto")).toEqual(found.filter(({ kind }) => kind !== "voted"));
    expect(await store.head("auto")).toBe(positions.at(-1));
    expect(await store.routers()).toEqual(["auto"]);
  });

  it("of one append are logged together or not at all", async () => {
    const store = await one();
    const bad = vote(2, { outcome: "a" }, { x: Float64Array.of(0.1) }); // not a float32
    await expect(store.append([vote(1), bad, vote(3)])).rejects.toThrow(/not a float32/);
    expect(await store.logEvents("auto", 0, 10)).toEqual([]);
    expect(await store.append([vote(1)])).toMatchObject([{ status: "logged" }]);
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    expect((await store.tallies(query))[0]!.counts).toMatchObject({ votes: 1 });
  });

  it("are read after a position, for one router at a time", async () => {
    const store = await one();
    await store.append([1, 2, 3].map((n) => vote(n)));
    await store.append([vote(4, { outcome: "a" }, { router: "other" })]);
    const all = await store.logEvents("auto", 0, 100);
    expect(all.map((event) => "decision" in event && event.decision)).toEqual(["d1", "d2", "d3"]);
    const [first, second] = all;
    expect(await store.logEvents("auto", first!.position, 1)).toEqual([second]);
    expect(await store.logEvents("auto", all[2]!.position, 10)).toEqual([]);
    expect(await store.head("other")).toBeGreaterThan(all[2]!.position);
    expect(await store.positionAt("auto", T0 + 2999)).toBe(second!.position);
    expect(await store.positionAt("auto", T0)).toBe(0);
  });

  it("have a last position up to a time, even if a clock was set back", async () => {
    const store = await one();
    const hour = 3_600_000;
    const times = [1, 2, 3, 4].map((n) => T0 + n).concat([1, 2].map((n) => T0 - hour + n));
    await store.append(times.map((at, n) => vote(n, { outcome: "a" }, { at })));
    const positions = (await store.logEvents("auto", 0, 10)).map(({ position }) => position);
    // Nothing was logged after this time, so the position is the last one.
    expect(await store.positionAt("auto", T0 + hour)).toBe(positions.at(-1));
    expect(await store.positionAt("auto", T0 - hour + 1)).toBe(positions.at(-2));
  });

  it("are never missed by a reader while two stores append", async () => {
    const [a, b] = await both();
    const [rounds, size] = [15, 8];
    const writing = [a, b].map(async (store, s) => {
      for (let round = 0; round < rounds; round++) {
        const ids = Array.from({ length: size }, (_, i) => 1000 * s + round * size + i);
        await store.append(ids.map((n) => vote(n)));
      }
    });
    let isWritten = false;
    const seen: string[] = [];
    const reading = (async () => {
      let cursor = 0;
      for (;;) {
        const wasWritten = isWritten;
        const events = await a.logEvents("auto", cursor, 7);
        for (const event of events) {
          if (event.kind === "voted") seen.push(event.decision);
          cursor = event.position;
        }
        if (wasWritten && events.length === 0) return;
      }
    })();
    await Promise.all(writing);
    isWritten = true;
    await reading;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBe(2 * rounds * size);
  });
}
