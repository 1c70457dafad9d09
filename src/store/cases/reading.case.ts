import { expect, it } from "vitest";
import { DAY_MS, newDecisionId } from "../decision-id.ts";
import { answered, MODELS, routed, T0, vote, xOf } from "../events.fixture.ts";
import { eventually } from "../eventually.fixture.ts";
import { seal, unseal } from "../seal.ts";
import type { Change } from "../store.ts";
import { BUCKET_MS, monthOf } from "../tally.ts";
import { toHalf } from "../vector.ts";
import type { Stores } from "./stores.fixture.ts";

/** Recording and reading decisions, prompts and counts, and listening for changes. */
export function readingConforms({ one, both }: Stores): void {
  it("returns decisions and answers unchanged, oldest first", async () => {
    const store = await one();
    const events = [
      routed(2, { x: toHalf(xOf(2)), sample: 0.25 }),
      routed(1, { owner: "k1", session: "s1", reasons: { guard: "\u0000 \ud83d\ude00" } }),
    ];
    const answer = answered(1, 0, { fallbacks: [{ model: "ant", reason: "timeout" }], owner: "k" });
    await store.record([...events, answer]);
    expect(await store.routed({ router: "auto", limit: 10 })).toEqual(events.toReversed());
    expect((await store.decision("d1"))!.answers).toEqual([answer]);
  });

  it("stores and counts decisions once, however often and on however many nodes they are sent", async () => {
    const [a, b] = await both();
    const events = [routed(1), answered(1, 0), answered(1, 1)];
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    await a.record([...events, ...events]);
    const before = await a.tallies(query);
    await Promise.all([a.record(events), b.record(events), b.record([routed(1)])]);
    expect(await b.tallies(query)).toEqual(before);
    expect(before.find(({ model }) => model === "")!.counts).toMatchObject({
      shown: 1,
      answers: 2,
    });
  });

  it("counts decisions that are not part of the sample without storing them", async () => {
    const store = await one();
    await store.record([routed(1)], [routed(2), answered(2, 0)]);
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    const all = (await store.tallies(query)).find(({ model }) => model === "")!;
    expect(all.counts).toMatchObject({ shown: 2, answers: 1 });
    expect(await store.decision("d2")).toBeUndefined();
  });

  it("pages decisions newest first, with answers and votes", async () => {
    const store = await one();
    const ids = Array.from({ length: 10 }, (_, n) => n);
    await store.record(
      ids.map((n) =>
        routed(n, { owner: n % 2 ? "odd" : "even", ...(n > 7 && { session: "late" }) }),
      ),
    );
    await store.record([answered(9, 0), answered(9, 1), routed(20, { router: "other" })]);
    await store.append([vote(9)]);
    const first = await store.decisions({ router: "auto", limit: 4 });
    expect(first.map(({ decision }) => decision.id)).toEqual(["d9", "d8", "d7", "d6"]);
    expect(first[0]!.answers.map(({ slot }) => slot)).toEqual([0, 1]);
    expect(first[0]!.votes).toMatchObject([{ voter: "ann", verdict: { outcome: "a" } }]);
    expect(first[0]!.decision).not.toHaveProperty("x");
    const before = first.at(-1)!.decision;
    const next = await store.decisions({ router: "auto", before, owner: "odd", limit: 2 });
    expect(next.map(({ decision }) => decision.id)).toEqual(["d5", "d3"]);
    const late = await store.decisions({ session: "late", limit: 1 });
    expect(late.map(({ decision }) => decision.id)).toEqual(["d9"]);
    const [withX] = await store.decisions({ router: "auto", limit: 1, withX: true });
    expect(withX!.decision.x).toEqual(xOf(9));
    expect(await store.decision("d9")).toEqual(withX);
    expect(await store.decision("missing")).toBeUndefined();
    await store.record([routed(30, { session: "odd \u0000\ud800" })]);
    expect(await store.decision("d30")).toBeDefined();
  });

  it("pages over the days, in both directions", async () => {
    const store = await one();
    const all = Array.from({ length: 12 }, (_, n) => {
      const at = T0 + n * 0.4 * DAY_MS;
      return routed(n, { at, id: newDecisionId(at) });
    });
    for (const event of all.toReversed()) await store.record([event]);
    const ids = all.map(({ id }) => id);
    const oldest: string[] = [];
    for (let after: (typeof all)[number] | undefined; ; ) {
      const page = await store.routed({ router: "auto", after, limit: 5 });
      if (page.length === 0) break;
      oldest.push(...page.map(({ id }) => id));
      after = page.at(-1)!;
    }
    expect(oldest).toEqual(ids);
    const newest: string[] = [];
    for (let before: { at: number; id: string } | undefined; ; ) {
      const page = await store.decisions({ router: "auto", before, limit: 5 });
      if (page.length === 0) break;
      newest.push(...page.map(({ decision }) => decision.id));
      before = page.at(-1)!.decision;
    }
    expect(newest).toEqual(ids.toReversed());
    const since = all[4]!.at;
    const late = await store.routed({ router: "auto", since, limit: 100 });
    expect(late.map(({ id }) => id)).toEqual(ids.slice(4));
    expect(await store.decisions({ since, limit: 100 })).toHaveLength(8);
    expect((await store.decision(ids[7]!))!.decision.at).toBe(all[7]!.at);
    const times = [1, 3, 12, 13].map((count) => store.timeOfNewest("auto", count));
    expect(await Promise.all(times)).toEqual([all[11]!.at, all[9]!.at, all[0]!.at, 0]);
  });

  it("keeps the answers with their decision, even after midnight", async () => {
    const store = await one();
    const at = T0 + DAY_MS - 1000;
    const id = newDecisionId(at);
    await store.record([routed(1, { at, id })]);
    await store.record([answered(1, 0, { at: at + 5000, decision: id })]);
    expect((await store.decision(id))!.answers).toHaveLength(1);
    const query = { router: "auto", from: T0 + DAY_MS, to: T0 + 2 * DAY_MS, step: BUCKET_MS };
    expect((await store.tallies(query))[0]!.counts).toMatchObject({ answers: 1, shown: 0 });
  });

  it("returns prompts as they were sealed", async () => {
    const store = await one();
    const key = new Uint8Array(32).fill(7);
    await store.record([routed(1, { prompt: seal("Why?", "d1", key) }), routed(2)]);
    expect(unseal((await store.prompt("d1"))!, "d1", key)).toBe("Why?");
    expect(await store.prompt("d2")).toBeUndefined();
    expect((await store.decision("d1"))!.decision).not.toHaveProperty("prompt");
  });

  it("counts by model and time", async () => {
    const store = await one();
    const far = Math.ceil(BUCKET_MS / 1000);
    await store.record([
      routed(1),
      answered(1, 0, { owner: "k1" }),
      answered(1, 1, { status: "failed", cost: 0, owner: "k1" }),
      routed(2, { pair: ["cat", "cat"] }),
      answered(2, 0, { model: "cat", cost: 0.5, owner: "k1" }),
    ]);
    await store.append([vote(2, { rating: -0.5, slot: 0 })]);
    await store.record([routed(far), routed(far + 1)]);
    await store.append([vote(far, { outcome: "b" })]);
    await store.append([vote(far + 1, { outcome: "both_bad" })]);
    const query = { router: "auto", from: T0, to: T0 + 2 * BUCKET_MS };
    const fine = await store.tallies({ ...query, step: BUCKET_MS });
    const countsOf = (rows: typeof fine, bucket: number, model: string) =>
      rows.find((row) => row.bucket === bucket && row.model === model)?.counts;
    expect(countsOf(fine, T0, "")).toMatchObject({ shown: 2, duels: 1, answers: 3, failures: 1 });
    expect(countsOf(fine, T0, "cat")).toMatchObject({
      shown: 2,
      duels: 1,
      votes: 1,
      ratings: 1,
      rating_sum: -0.5,
      cost: 0.5,
      input_tokens: 200,
    });
    expect(countsOf(fine, T0 + BUCKET_MS, "")).toMatchObject({ votes: 2, wins: 0, both_bad: 1 });
    const winner = MODELS[(far + 1) % 4]!;
    expect(countsOf(fine, T0 + BUCKET_MS, winner)).toMatchObject({ wins: 1 });
    const step = 288 * BUCKET_MS;
    const coarse = await store.tallies({ ...query, step });
    expect(countsOf(coarse, T0 - (T0 % step), "")).toMatchObject({ shown: 4, duels: 3, votes: 3 });
    expect(await store.spent("k1", monthOf(T0))).toBeCloseTo(0.501, 12);
    expect(await store.spent("k1", "2020-01")).toBe(0);
  });

  it("keeps large embeddings until they expire", async () => {
    const [a, b] = await both();
    const x = toHalf(xOf(1, 3072));
    await a.saveEmbedding("d1", x, Date.now() + 60_000);
    await a.saveEmbedding("d1", x, Date.now() + 60_000);
    expect(await b.embedding("d1")).toEqual(x);
    await a.saveEmbedding("d2", x, 1);
    await a.saveEmbedding("d3", x, Date.now() + 60_000);
    expect(await b.embedding("d2")).toBeUndefined();
    expect(await b.embedding("d3")).toEqual(x);
  });

  it("finds nothing by a text that no database can hold", async () => {
    const store = await one();
    await store.record([routed(1)]);
    expect(await store.decision("d1\0")).toBeUndefined();
    expect(await store.response("\0")).toBeUndefined();
    expect(await store.routed({ router: "au\0to", limit: 10 })).toEqual([]);
  });

  it("keeps responses until they expire, and replaces and deletes them", async () => {
    const [a, b] = await both();
    const response = {
      id: "r1",
      owner: "k1",
      until: Date.now() + 60_000,
      body: Buffer.from("one"),
    };
    await a.saveResponses([response]);
    expect(await b.response("r1")).toEqual(response);
    const changed = { ...response, body: Buffer.from("two") };
    await b.saveResponses([changed]);
    expect(await a.response("r1")).toEqual(changed);
    // A response of another owner is never replaced.
    await b.saveResponses([{ ...response, owner: "k2" }]);
    expect(await a.response("r1")).toEqual(changed);
    await a.saveResponses([
      { ...response, id: "r2", until: 1 },
      { ...response, id: "r3" },
    ]);
    await a.saveResponses([{ ...response, id: "r4" }]);
    expect(await b.response("r2")).toBeUndefined();
    await a.deleteResponse("r1");
    await a.deleteResponse("r1");
    expect(await b.response("r1")).toBeUndefined();
    expect(await b.response("r3")).toEqual({ ...response, id: "r3" });
  });

  it("reads several responses at once, except for large ones", async () => {
    const [a, b] = await both();
    const until = Date.now() + 60_000;
    const sized = (id: string, bytes: number) => ({
      id,
      owner: "k1",
      until,
      body: Buffer.alloc(bytes, "x"),
    });
    const small = [sized("s1", 0), sized("s2", 1000)];
    await a.saveResponses([...small, sized("large", 1001)]);
    const ids = ["large", "s2", "none", "s1"];
    const found = await b.responses(ids, 1000);
    expect(found.toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual(small);
    expect(await b.responses(ids, 1001)).toHaveLength(3);
    expect(await b.responses([], 1000)).toEqual([]);
  });

  it("gives an id of a client to one decision of a key, until its time or until it is freed", async () => {
    const [a, b] = await both();
    const until = Date.now() + 60_000;
    const claim = (owner: string, id: string, decision: string) => ({ owner, id, decision, until });
    const first = [claim("k1", "m1", "d1"), claim("k2", "m1", "d2"), claim("k1", "m1", "d3")];
    expect(await a.claimIds(first)).toEqual([true, true, false]);
    expect(await b.claimIds([claim("k1", "m1", "d1"), claim("k2", "m1", "d4")])).toEqual([
      true,
      false,
    ]);
    expect(await b.decisionNamed("k1", "m1")).toBe("d1");
    expect(await b.decisionNamed("k2", "m1")).toBe("d2");
    expect(await b.decisionNamed("k1", "m2")).toBeUndefined();
    await b.releaseId(claim("k1", "m1", "d9"));
    expect(await a.decisionNamed("k1", "m1")).toBe("d1");
    await b.releaseId(claim("k1", "m1", "d1"));
    expect(await a.decisionNamed("k1", "m1")).toBeUndefined();
    expect(await a.claimIds([{ ...claim("k1", "old", "d5"), until: 1 }])).toEqual([true]);
    expect(await a.claimIds([claim("k1", "old", "d6")])).toEqual([true]);
    expect(await a.claimIds([])).toEqual([]);
    expect(await b.decisionNamed("k1", "old")).toBe("d6");
    // Claims at the same time: one of them gets the id.
    const racing = ["d7", "d8"].map((decision, i) =>
      [a, b][i]!.claimIds([claim("", "r", decision)]),
    );
    expect((await Promise.all(racing)).flat().toSorted()).toEqual([false, true]);
  });

  it("notifies of votes and snapshots, also of other nodes if the database is shared", async () => {
    const [a, b] = await both();
    const changes: Change[] = [];
    const stop = (a.shared ? b : a).onChange((change) => changes.push(change));
    await a.record([routed(1), routed(2, { router: "quiet" })]);
    await a.append([vote(1)]);
    const token = (await a.acquireLease("auto", "me", 60_000))!;
    await a.saveSnapshot(
      { router: "auto", position: 2, at: T0, hash: "h", state: Uint8Array.of(1) },
      token,
    );
    await eventually(() => changes.length).toBe(2);
    expect(changes).toMatchObject([
      { router: "auto", what: "log" },
      { router: "auto", what: "snapshot", position: 2 },
    ]);
    stop();
  });
}
