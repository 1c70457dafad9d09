import { expect, it } from "vitest";
import { answered, configured, routed, T0, vote } from "../events.fixture.ts";
import type { Event } from "../events.ts";
import { BUCKET_MS } from "../tally.ts";
import type { Stores } from "./stores.fixture.ts";

/** Events are logged once, atomically per append, and are read in log order. */
export function eventsConform({ one, both }: Stores): void {
  it("are returned unchanged, in log order", async () => {
    const store = await one();
    const events: Event[] = [
      configured(),
      routed(1, { owner: "k1", session: "s1", reasons: { guard: "\u0000 \ud83d\ude00" } }),
      answered(1, 0, { fallbacks: [{ model: "ant", reason: "timeout" }] }),
      { kind: "frozen", router: "auto", at: T0 + 1 },
      { kind: "thawed", router: "auto", at: T0 + 2, learn: true },
      { kind: "rolled_back", router: "auto", at: T0 + 3, to: 1 },
      { kind: "voter_forgotten", router: "auto", at: T0 + 4, voter: "ann" },
    ];
    const receipts = await store.append(events);
    const positions = receipts.map((r) => (r.status === "logged" ? r.position : 0));
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(new Set(positions).size).toBe(events.length);
    const found = await store.learning("auto", 0, 100);
    const controls = events.filter(({ kind }) => kind !== "routed" && kind !== "answered");
    expect(found.map(({ position: _, ...event }) => event)).toEqual(controls);
    expect(await store.controls("auto")).toEqual(found);
    const [decision] = await store.routed("auto", 0, 10);
    expect(decision).toEqual({ ...events[1], position: positions[1] });
    expect(await store.head("auto")).toBe(positions.at(-1));
    expect(await store.routers()).toEqual(["auto"]);
  });

  it("are logged and counted once, however often they are sent", async () => {
    const store = await one();
    const entries = [routed(1), answered(1, 0), answered(1, 1), vote(1)];
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    expect((await store.append(entries)).map(({ status }) => status)).toEqual(
      entries.map(() => "logged"),
    );
    const [before, head] = [await store.tallies(query), await store.head("auto")];
    expect((await store.append(entries)).map(({ status }) => status)).toEqual(
      entries.map(() => "repeated"),
    );
    expect(await store.tallies(query)).toEqual(before);
    expect(await store.head("auto")).toBe(head);
  });

  it("of one append are logged together or not at all", async () => {
    const store = await one();
    const bad = routed(2, { x: Float64Array.of(0.1) }); // not a float32
    await expect(store.append([routed(1), bad, vote(1)])).rejects.toThrow(/not a float32/);
    expect(await store.decision("d1")).toBeUndefined();
    expect(await store.append([routed(1)])).toMatchObject([{ status: "logged" }]);
  });

  it("are read after a position, for one router at a time", async () => {
    const store = await one();
    await store.append([1, 2, 3].flatMap((n) => [routed(n), vote(n)]));
    await store.append([routed(4, { router: "other" }), vote(4)]);
    const all = await store.learning("auto", 0, 100);
    expect(all.map((event) => "decision" in event && event.decision)).toEqual(["d1", "d2", "d3"]);
    const [first, second] = all;
    expect(await store.learning("auto", first!.position, 1)).toEqual([second]);
    expect(await store.learning("auto", all[2]!.position, 10)).toEqual([]);
    expect(await store.head("other")).toBeGreaterThan(all[2]!.position);
    expect(await store.positionAt("auto", T0 + 2999)).toBe(second!.position);
    expect(await store.positionAt("auto", T0)).toBe(0);
    expect(await store.votesOf("auto", "ann")).toBe(3);
    expect(await store.votesOf("auto", "bob")).toBe(0);
  });

  it("are never missed by a reader while two stores append", async () => {
    const [a, b] = await both();
    const [rounds, size] = [15, 8];
    const writing = [a, b].map(async (store, s) => {
      for (let round = 0; round < rounds; round++) {
        const ids = Array.from({ length: size }, (_, i) => 1000 * s + round * size + i);
        await store.append(ids.flatMap((n) => [routed(n), vote(n)]));
      }
    });
    let isWritten = false;
    const seen: string[] = [];
    const reading = (async () => {
      let cursor = 0;
      for (;;) {
        const wasWritten = isWritten;
        const events = await a.learning("auto", cursor, 7);
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
