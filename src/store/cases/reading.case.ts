import { expect, it } from "vitest";
import { answered, MODELS, routed, T0, vote } from "../events.fixture.ts";
import { eventually } from "../eventually.fixture.ts";
import { seal, unseal } from "../seal.ts";
import type { Change } from "../store.ts";
import { BUCKET_MS, monthOf } from "../tally.ts";
import type { Stores } from "./stores.fixture.ts";

/** Reading decisions, prompts and counts, and listening for changes. */
export function readingConforms({ one, both }: Stores): void {
  it("pages decisions newest first, with answers and votes and without x", async () => {
    const store = await one();
    const ids = Array.from({ length: 10 }, (_, n) => n);
    await store.append(
      ids.map((n) =>
        routed(n, { owner: n % 2 ? "odd" : "even", ...(n > 7 && { session: "late" }) }),
      ),
    );
    await store.append([answered(9, 0), answered(9, 1), vote(9), routed(20, { router: "other" })]);
    const first = await store.decisions({ router: "auto", limit: 4 });
    expect(first.map(({ decision }) => decision.id)).toEqual(["d9", "d8", "d7", "d6"]);
    expect(first[0]!.answers.map(({ slot }) => slot)).toEqual([0, 1]);
    expect(first[0]!.votes).toMatchObject([{ voter: "ann", verdict: { outcome: "a" } }]);
    expect(first[0]!.decision).not.toHaveProperty("x");
    const before = first.at(-1)!.decision.position;
    const next = await store.decisions({ router: "auto", before, owner: "odd", limit: 2 });
    expect(next.map(({ decision }) => decision.id)).toEqual(["d5", "d3"]);
    const late = await store.decisions({ session: "late", limit: 1 });
    expect(late.map(({ decision }) => decision.id)).toEqual(["d9"]);
    expect(await store.decision("d9")).toEqual(first[0]);
    expect(await store.decision("missing")).toBeUndefined();
    await store.append([routed(30, { session: "odd \u0000\ud800" })]);
    expect(await store.decision("d30")).toBeDefined();
  });

  it("returns prompts as they were sealed", async () => {
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

  it("notifies of votes and snapshots, also of other nodes if the database is shared", async () => {
    const [a, b] = await both();
    const changes: Change[] = [];
    const stop = (a.shared ? b : a).onChange((change) => changes.push(change));
    await a.append([routed(1), vote(1), routed(2, { router: "quiet" })]);
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
