import { describe, expect, it, onTestFinished } from "vitest";
import { answered, configured, MODELS, routed, T0, vote, xOf } from "./events.fixture.ts";
import type { Event } from "./events.ts";
import { eventually } from "./eventually.fixture.ts";
import { seal, unseal } from "./seal.ts";
import type { Change, Receipt, Store } from "./store.ts";
import { LeaseLost } from "./store-error.ts";
import { BUCKET_MS, monthOf } from "./tally.ts";

/** A disk may be slow. */
const PATIENT = { timeout: 60_000 };

/** A new, empty database, which can be opened any number of times. */
export type Fresh = () => Promise<() => Promise<Store>>;

/** What every store must pass. */
export function conforms(name: string, fresh: Fresh): void {
  const opened = async (open: () => Promise<Store>) => {
    const store = await open();
    onTestFinished(() => store.close());
    return store;
  };
  const one = async () => opened(await fresh());
  const both = async (): Promise<[Store, Store]> => {
    const open = await fresh();
    return [await opened(open), await opened(open)];
  };
  const refusedFor = (receipt: Receipt | undefined) =>
    receipt?.status === "refused" ? receipt.reason : receipt?.status;

  describe(`${name}: events`, PATIENT, () => {
    it("come back as they were, in the order of the log", async () => {
      const store = await one();
      const events: Event[] = [
        configured(),
        routed(1, { owner: "k1", session: "s1", reasons: { why: "\u0000 \ud83d\ude00" } }),
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

    it("are logged once, and counted once, however often they are sent", async () => {
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

    it("of one append are all logged or none", async () => {
      const store = await one();
      const bad = routed(2, { x: Float64Array.of(0.1) }); // no float32
      await expect(store.append([routed(1), bad, vote(1)])).rejects.toThrow(/no float32/);
      expect(await store.decision("d1")).toBeUndefined();
      expect(await store.append([routed(1)])).toMatchObject([{ status: "logged" }]);
    });

    it("are read after a cursor, a router at a time", async () => {
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

    it("are not missed by a reader with a cursor while two append", async () => {
      const [a, b] = await both();
      const [rounds, size] = [15, 8];
      const writing = [a, b].map(async (store, s) => {
        for (let round = 0; round < rounds; round++) {
          const ids = Array.from({ length: size }, (_, i) => 1000 * s + round * size + i);
          await store.append(ids.flatMap((n) => [routed(n), vote(n)]));
        }
      });
      let over = false;
      const seen: string[] = [];
      const reading = (async () => {
        let cursor = 0;
        for (;;) {
          const last = over;
          const events = await a.learning("auto", cursor, 7);
          for (const event of events) {
            if (event.kind === "voted") seen.push(event.decision);
            cursor = event.position;
          }
          if (last && events.length === 0) return;
        }
      })();
      await Promise.all(writing);
      over = true;
      await reading;
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBe(2 * rounds * size);
    });
  });

  describe(`${name}: votes`, PATIENT, () => {
    it("carry x, the models that answered and what the router thought of them", async () => {
      const store = await one();
      // bee falls back to dog.
      await store.append([routed(1), answered(1, 0, { model: "dog" }), answered(1, 1)]);
      await store.append([vote(1, { outcome: "b" })]);
      const [voted] = await store.learning("auto", 0, 10);
      expect(voted).toMatchObject({
        kind: "voted",
        x: xOf(1),
        models: ["dog", "cat"],
        values: [3 / 7, 2 / 7],
        verdict: { outcome: "b" },
        voter: "ann",
        encoder: "test",
      });
    });

    it("of one voter on one decision count once, and the first counts", async () => {
      const store = await one();
      await store.append([routed(1), vote(1)]);
      const receipts = await store.append([
        vote(1, { outcome: "a" }, { at: T0 + 99_999 }),
        vote(1, { outcome: "b" }),
        vote(1, { outcome: "b" }, { voter: "bob" }),
        vote(1, { outcome: "b" }, { voter: "bob" }),
        vote(1, { outcome: "tie" }, { voter: "bob" }),
        vote(1, { rating: 1 }, { voter: "" }),
        vote(1, { rating: 1, slot: 0 }, { voter: "" }),
      ]);
      expect(receipts.map(refusedFor)).toEqual([
        "repeated",
        "changed",
        "logged",
        "repeated",
        "changed",
        "logged",
        "repeated",
      ]);
      const votes = await store.learning("auto", 0, 10);
      expect(votes.map((event) => event.kind === "voted" && event.voter)).toEqual([
        "ann",
        "bob",
        "",
      ]);
    });

    it("are refused on what is unknown, another key's, single, unanswered, or none of its answers", async () => {
      const store = await one();
      await store.append([
        routed(1, { owner: "k1" }),
        routed(2, { pair: ["ant", "ant"] }),
        routed(3),
        answered(3, 0, { status: "failed" }),
        routed(4),
        answered(4, 0, { model: "ant" }),
        answered(4, 1, { model: "ant" }),
      ]);
      const receipts = await store.append([
        vote(9),
        vote(1, { outcome: "a" }, { owner: "k2" }),
        vote(1, { outcome: "a" }, { owner: "k1" }),
        vote(1, { outcome: "a" }, { voter: "token" }),
        vote(2),
        vote(2, { rating: -0.5 }),
        vote(3),
        vote(3, { rating: 1, slot: 1 }),
        vote(4),
        vote(1, { rating: 2 }, { voter: "x" }),
        vote(1, { ranking: ["ant", "eel"] }, { voter: "x" }),
        vote(1, { ranking: ["ant", "ant"] }, { voter: "x" }),
        vote(1, { ranking: ["dog", "ant", "bee"] }, { voter: "x" }),
      ]);
      expect(receipts.map(refusedFor)).toEqual([
        "unknown",
        "foreign",
        "logged",
        "logged",
        "single",
        "logged",
        "unanswered",
        "logged",
        "single",
        "invalid",
        "invalid",
        "invalid",
        "logged",
      ]);
    });

    it("may come in the same append as their decision", async () => {
      const store = await one();
      const receipts = await store.append([vote(1), routed(1), vote(1)]);
      expect(receipts.at(-1)!.status).not.toBe("refused");
      expect(await store.learning("auto", 0, 10)).toHaveLength(1);
    });
  });

  describe(`${name}: reading`, PATIENT, () => {
    it("decisions in pages, the newest first, with answers and votes and without x", async () => {
      const store = await one();
      const ids = Array.from({ length: 10 }, (_, n) => n);
      await store.append(
        ids.map((n) =>
          routed(n, { owner: n % 2 ? "odd" : "even", ...(n > 7 && { session: "late" }) }),
        ),
      );
      await store.append([
        answered(9, 0),
        answered(9, 1),
        vote(9),
        routed(20, { router: "other" }),
      ]);
      const first = await store.decisions({ router: "auto", limit: 4 });
      expect(first.map(({ routed }) => routed.decision)).toEqual(["d9", "d8", "d7", "d6"]);
      expect(first[0]!.answers.map(({ slot }) => slot)).toEqual([0, 1]);
      expect(first[0]!.votes).toMatchObject([{ voter: "ann", verdict: { outcome: "a" } }]);
      expect(first[0]!.routed).not.toHaveProperty("x");
      const before = first.at(-1)!.routed.position;
      const next = await store.decisions({ router: "auto", before, owner: "odd", limit: 2 });
      expect(next.map(({ routed }) => routed.decision)).toEqual(["d5", "d3"]);
      const late = await store.decisions({ session: "late", limit: 1 });
      expect(late.map(({ routed }) => routed.decision)).toEqual(["d9"]);
      expect(await store.decision("d9")).toEqual(first[0]);
      expect(await store.decision("nobody's")).toBeUndefined();
      await store.append([routed(30, { session: "odd \u0000\ud800" })]);
      expect(await store.decision("d30")).toBeDefined();
    });

    it("prompts as they were sealed", async () => {
      const store = await one();
      const key = new Uint8Array(32).fill(7);
      await store.append([routed(1, { prompt: seal("Why?", "d1", key) }), routed(2)]);
      expect(unseal((await store.prompt("d1"))!, "d1", key)).toBe("Why?");
      expect(await store.prompt("d2")).toBeUndefined();
    });

    it("counts by model and time", async () => {
      const store = await one();
      const far = Math.ceil(BUCKET_MS / 1000);
      await store.append([
        routed(1),
        answered(1, 0, { owner: "k1" }),
        answered(1, 1, { status: "failed", cost: 0, owner: "k1" }),
        routed(2, { pair: ["cat", "cat"] }),
        answered(2, 0, { model: "cat", cost: 0.5, owner: "k1" }),
        vote(2, { rating: -0.5 }),
      ]);
      await store.append([routed(far), vote(far, { outcome: "b" }), routed(far + 1)]);
      await store.append([vote(far + 1, { outcome: "both_bad" })]);
      const query = { router: "auto", from: T0, to: T0 + 2 * BUCKET_MS };
      const fine = await store.tallies({ ...query, step: BUCKET_MS });
      const of = (rows: typeof fine, bucket: number, model: string) =>
        rows.find((row) => row.bucket === bucket && row.model === model)?.counts;
      expect(of(fine, T0, "")).toMatchObject({ shown: 2, duels: 1, answers: 3, failures: 1 });
      expect(of(fine, T0, "cat")).toMatchObject({
        shown: 2,
        duels: 1,
        votes: 1,
        ratings: 1,
        rating_sum: -0.5,
        cost: 0.5,
        input_tokens: 200,
      });
      expect(of(fine, T0 + BUCKET_MS, "")).toMatchObject({ votes: 2, wins: 0, both_bad: 1 });
      const winner = MODELS[(far + 1) % 4]!;
      expect(of(fine, T0 + BUCKET_MS, winner)).toMatchObject({ wins: 1 });
      const step = 288 * BUCKET_MS;
      const coarse = await store.tallies({ ...query, step });
      expect(of(coarse, T0 - (T0 % step), "")).toMatchObject({ shown: 4, duels: 3, votes: 3 });
      expect(await store.spent("k1", monthOf(T0))).toBeCloseTo(0.501, 12);
      expect(await store.spent("k1", "2020-01")).toBe(0);
    });

    it("hears of votes, controls and snapshots, from elsewhere too where it is shared", async () => {
      const [a, b] = await both();
      const heard: Change[] = [];
      const stop = (a.shared ? b : a).onChange((change) => heard.push(change));
      await a.append([routed(1), vote(1), routed(2, { router: "quiet" })]);
      const token = (await a.acquireLease("auto", "me", 60_000))!;
      await a.saveSnapshot(
        { router: "auto", position: 2, at: T0, hash: "h", state: Uint8Array.of(1) },
        token,
      );
      await eventually(() => heard.length).toBe(2);
      expect(heard).toMatchObject([
        { router: "auto", what: "log" },
        { router: "auto", what: "snapshot", position: 2 },
      ]);
      stop();
    });
  });

  describe(`${name}: snapshots and leases`, PATIENT, () => {
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
      for (let n = 0; n < 8; n++)
        await store.saveSnapshot(at(n, { at: T0 + n * 1_200_000 }), token);
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
  });

  describe(`${name}: upkeep`, PATIENT, () => {
    it("prunes old decisions and prompts, but neither votes nor counts", async () => {
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
      // Too late: nobody knows what it was about.
      expect((await store.append([vote(0)])).map(refusedFor)).toEqual(["unknown"]);
    });

    it("prunes votes only up to a snapshot, which is then kept, and never so that one counts twice", async () => {
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
      expect((await store.append([vote(1), vote(3)])).map(refusedFor)).toEqual([
        "unknown",
        "repeated",
      ]);
    });

    it("never gives a position again", async () => {
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

    it("keeps keys and makes a secret once", async () => {
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

    it("has everything when it is opened again", async () => {
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
  });
}
