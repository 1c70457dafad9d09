import { expect, it } from "vitest";
import { configured, T0, vote, xOf } from "../events.fixture.ts";
import { BUCKET_MS } from "../tally.ts";
import { resultOf, type Stores } from "./stores.fixture.ts";

/** Ballots, and forgetting a voter. */
export function votesConform({ one, both }: Stores): void {
  it("need no decision and are logged once, however often they are sent", async () => {
    const store = await one();
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    expect((await store.append([vote(1), vote(2)])).map(resultOf)).toEqual(["logged", "logged"]);
    const [before, head] = [await store.tallies(query), await store.head("auto")];
    expect((await store.append([vote(2), vote(1)])).map(resultOf)).toEqual([
      "repeated",
      "repeated",
    ]);
    expect(await store.tallies(query)).toEqual(before);
    expect(await store.head("auto")).toBe(head);
    expect(await store.logEvents("auto", 0, 1)).toMatchObject([{ x: xOf(1), voter: "ann" }]);
  });

  it("count once per voter and decision, and only the first counts", async () => {
    const store = await one();
    await store.append([vote(1)]);
    const receipts = await store.append([
      vote(1, { outcome: "a" }, { at: T0 + 99_999 }),
      vote(1, { outcome: "b" }),
      vote(1, { outcome: "b" }, { voter: "bob" }),
      vote(1, { outcome: "b" }, { voter: "bob" }),
      vote(1, { outcome: "tie" }, { voter: "bob" }),
      vote(1, { rating: 1, slot: 0 }, { voter: "" }),
      vote(1, { rating: 1, slot: 0 }, { voter: "" }),
      vote(2, { outcome: "b" }),
    ]);
    expect(receipts.map(resultOf)).toEqual([
      "repeated",
      "changed",
      "logged",
      "repeated",
      "changed",
      "logged",
      "repeated",
      "logged",
    ]);
    const votes = await store.logEvents("auto", 0, 10);
    expect(votes.map((event) => event.kind === "voted" && event.voter)).toEqual([
      "ann",
      "bob",
      "",
      "ann",
    ]);
  });

  it("on one decision teach no more than three, whatever names are used", async () => {
    const [a, b] = await both();
    const voter = (n: number) => vote(1, { outcome: "b" }, { voter: `name ${n}` });
    await a.append([voter(0), voter(1)]);
    await b.append(Array.from({ length: 298 }, (_, n) => voter(n + 2)));
    await a.append([vote(2)]);
    const weights = (await a.logEvents("auto", 0, 1000)).map(
      (event) => event.kind === "voted" && event.weight,
    );
    expect(weights).toEqual([1, 1, 1, ...new Array(297).fill(0), 1]);
  });

  it("leave comments uncounted: they use no ballot and are erased with their voter", async () => {
    const store = await one();
    const comment = (text: string, voter = "ann") =>
      vote(1, { comment: text }, { voter, models: [], weight: 0 });
    const receipts = await store.append([
      comment("one"),
      comment("two"),
      comment("three"),
      comment("one"),
      comment("one", "bob"),
      vote(1, { comment: "by token" }, { voter: "cy", byToken: true }),
      vote(1, { comment: "again" }, { voter: "dan", byToken: true }),
      vote(1),
    ]);
    expect(receipts.map(resultOf)).toEqual([
      "logged",
      "logged",
      "logged",
      "repeated",
      "logged",
      "logged",
      "changed",
      "logged",
    ]);
    const last = (await store.logEvents("auto", 0, 10)).at(-1);
    expect(last).toMatchObject({ verdict: { outcome: "a" }, weight: 1 });
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    const [all] = (await store.tallies(query)).filter(({ model }) => model === "");
    expect(all!.counts.votes).toBe(1);
    expect(await store.forget("auto", "ann", T0)).toBe(4);
    expect(JSON.stringify(await store.logEvents("auto", 0, 10))).not.toContain("two");
  });

  it("of one group are all logged or, if one of them is refused, not at all", async () => {
    const store = await one();
    const metric = (name: string, rating: number, voter = "ann") =>
      vote(1, { rating, slot: 0 }, { voter, metric: { name, value: rating } });
    await store.append([metric("b", 1)]);
    const receipts = await store.append(
      [
        ...[metric("a", 1), metric("b", -1), metric("c", 1)],
        ...[metric("a", -1), metric("b", 1)],
        ...[metric("d", 1), metric("d", -1)],
        ...[metric("d", 0), metric("a", 1, "bob")],
      ],
      [3, 2, 2, 2],
    );
    expect(receipts.map(resultOf)).toEqual([
      ...["withheld", "changed", "withheld"],
      ...["logged", "repeated"],
      ...["withheld", "changed"],
      ...["logged", "logged"],
    ]);
    const votes = await store.logEvents("auto", 0, 10);
    expect(votes.map((event) => event.kind === "voted" && event.metric)).toMatchObject([
      { name: "b", value: 1 },
      { name: "a", value: -1 },
      { name: "d", value: 0 },
      { name: "a", value: 1 },
    ]);
    // The fourth vote on the decision has the weight 0. Votes that were withheld take no place.
    const learned = receipts.map((receipt) => "isLearned" in receipt && receipt.isLearned);
    expect(learned.slice(3, 5)).toEqual([true, true]);
    expect(learned.slice(7)).toEqual([true, false]);
    const [again] = await store.append([metric("a", 1, "bob")]);
    expect(again).toEqual({ status: "repeated", isLearned: false });
  });

  it("by token count once per decision, whatever the voter is called", async () => {
    const store = await one();
    const byToken = (n: number, voter: string, outcome: "a" | "b" = "a") =>
      vote(n, { outcome }, { voter, byToken: true });
    const receipts = await store.append([
      byToken(1, "ann"),
      byToken(1, "bob"),
      byToken(1, "cy", "b"),
      byToken(2, "ann"),
      vote(1, { outcome: "a" }, { voter: "" }),
      vote(1, { outcome: "b" }, { voter: "" }),
      vote(1, { outcome: "b" }, { voter: "ann" }),
    ]);
    expect(receipts.map(resultOf)).toEqual([
      "logged",
      "repeated",
      "changed",
      "logged",
      "repeated",
      "changed",
      "logged",
    ]);
  });

  it("with the same ballot on two nodes count once", async () => {
    const [a, b] = await both();
    const receipts = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? a : b).append([vote(1)])),
    );
    const results = receipts.flat().map(resultOf);
    expect(results.filter((result) => result === "logged")).toHaveLength(1);
    expect(results.filter((result) => result === "repeated")).toHaveLength(9);
  });

  it("of a forgotten voter are erased, with their counts and all snapshots", async () => {
    const store = await one();
    const query = { router: "auto", from: T0, to: T0 + BUCKET_MS, step: BUCKET_MS };
    await store.append([configured(), vote(1), vote(2, { outcome: "b" }, { voter: "bob" })]);
    const kept = await store.logEvents("auto", 0, 10);
    const counts = await store.tallies(query);
    await store.append([vote(3, { outcome: "tie" }, { voter: "bob" }), vote(4)]);
    await store.append([vote(1, { outcome: "a" }, { voter: "bob", router: "other" })]);
    const token = (await store.acquireLease("auto", "me", 60_000))!;
    const position = await store.head("auto");
    const state = Buffer.from("bob");
    await store.saveSnapshot({ router: "auto", position, at: T0, hash: "h", state }, token);

    expect(await store.forget("auto", "nobody", T0)).toBe(0);
    expect(await store.forget("auto", "ann", T0 + 5000)).toBe(2);
    expect(await store.snapshotPositions("auto")).toEqual([]);
    // A learner that has not noticed yet saves nothing.
    await store.saveSnapshot({ router: "auto", position, at: T0, hash: "h", state }, token);
    expect(await store.snapshotPositions("auto")).toEqual([]);
    const left = await store.logEvents("auto", 0, 10);
    expect(left.map(({ kind }) => kind)).toEqual([
      "configured",
      "voted",
      "voted",
      "voter_forgotten",
    ]);
    expect(left.slice(0, 2)).toEqual([kept[0], kept[2]]);
    expect(JSON.stringify(left)).not.toContain("ann");
    expect(left.at(-1)).toMatchObject({ votes: 2, at: T0 + 5000 });

    expect(await store.forget("auto", "bob", T0 + 6000)).toBe(2);
    expect(await store.logEvents("other", 0, 10)).toHaveLength(1);
    const total = (await store.tallies(query)).flatMap(({ counts }) => Object.values(counts));
    expect(new Set(total)).toEqual(new Set([0]));
    // The voter may vote again, also on the same decision.
    await store.append([vote(1), vote(2, { outcome: "b" }, { voter: "bob" })]);
    expect((await store.tallies(query)).filter(({ counts }) => counts.votes > 0)).toEqual(counts);
  });
}
