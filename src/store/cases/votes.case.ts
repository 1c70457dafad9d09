import { expect, it } from "vitest";
import { answered, routed, T0, vote, xOf } from "../events.fixture.ts";
import { resultOf, type Stores } from "./stores.fixture.ts";

/** Accepting and refusing votes, and the content of a vote. */
export function votesConform({ one }: Stores): void {
  it("carry x, the models that answered and their estimated utilities", async () => {
    const store = await one();
    // Slot 0 was chosen for bee and answered by dog after a fallback.
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

  it("count once per voter and decision, and only the first counts", async () => {
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
    expect(receipts.map(resultOf)).toEqual([
      "repeated",
      "changed",
      "logged",
      "repeated",
      "changed",
      "logged",
      "repeated",
    ]);
    const votes = await store.learning("auto", 0, 10);
    expect(votes.map((event) => event.kind === "voted" && event.voter)).toEqual(["ann", "bob", ""]);
  });

  it("are refused if the decision is unknown, of another key, single or unanswered, or if they are invalid", async () => {
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
    expect(receipts.map(resultOf)).toEqual([
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

  it("can be in the same append as their decision", async () => {
    const store = await one();
    const receipts = await store.append([vote(1), routed(1), vote(1)]);
    expect(receipts.at(-1)!.status).not.toBe("refused");
    expect(await store.learning("auto", 0, 10)).toHaveLength(1);
  });
}
