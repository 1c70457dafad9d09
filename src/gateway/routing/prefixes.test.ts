import { describe, expect, it } from "vitest";
import { historyOf } from "../dialects/chat/history.ts";
import { USUAL_CACHE } from "../providers/answer-price.ts";
import { NO_USAGE } from "../providers/upstream/usage.ts";
import { AnswerPrices, type PricedConversation } from "./answer-prices.ts";
import { prefixesIn, ReadPrefixes } from "./prefixes.ts";

const prefixesOf = (scope: string, messages: readonly unknown[]) =>
  prefixesIn(scope, historyOf(messages, false).prefixes);
const user = (content: string) => ({ role: "user", content });
const answer = (content: string) => ({ role: "assistant", content });
const system = { role: "system", content: "be brief" };
const first = [system, user("hi")];
const second = [...first, answer("hello"), user("and now?")];
const facts = { session: "s", models: ["a"], outputs: new Map([["a", { output: 10 }]]) };

describe("prefixes of a conversation", () => {
  it("have the same hashes as the conversation before, and none of its text", () => {
    const [short, long] = [prefixesOf("key", first), prefixesOf("key", second)];
    expect(long.slice(0, 2).map(({ hash }) => hash)).toEqual(short.map(({ hash }) => hash));
    expect(long.map(({ isHead }) => isHead)).toEqual([true, false, false, false]);
    expect(long.at(-1)!.share).toBe(1);
    expect(JSON.stringify(long)).not.toMatch(/brief|hello/);
  });

  it.each([
    ["another key", prefixesOf("other", first)],
    ["another message", prefixesOf("key", [system, user("hi!")])],
    ["another role", prefixesOf("key", [system, answer("hi")])],
    ["a long message with another middle part", prefixesOf("key", [system, user("x".repeat(1e5))])],
  ])("differ for %s", (_, others) => {
    const known = new Set(prefixesOf("key", first).map(({ hash }) => hash));
    expect(known.has(others.at(-1)!.hash)).toBe(false);
  });

  it("are recognised after a model has read them, for as long as its cache lives", () => {
    const read = new ReadPrefixes();
    const before = prefixesOf("", first);
    expect(read.find(before)).toBeUndefined();
    read.remember(before, { ...facts, at: 1000 });
    const now = prefixesOf("", second);
    expect(read.find(now)).toMatchObject({ session: "s", model: "a" });
    const { share } = now[1]!;
    expect(read.warmShare(now, 1000, "a")).toBe(share);
    expect(read.warmShare(now, 1000)).toBe(share);
    expect(read.warmShare(now, 1000, "b")).toBe(0);
    expect(read.warmShare(now, 1001, "a")).toBe(0);
    // Other conversations share the instructions only, and are other sessions.
    const other = prefixesOf("", [system, user("bye")]);
    expect(read.find(other)).toBeUndefined();
    expect(read.warmShare(other, 1000, "a")).toBe(other[0]!.share);
  });

  it("forget the oldest if a large pool would fill the memory", () => {
    const read = new ReadPrefixes();
    const models = Array.from({ length: 40_000 }, (_, k) => [`m${k}`, { output: k }] as const);
    const outputs = new Map(models);
    const own = (n: number) => prefixesOf("", [user(`question ${n}`)]);
    for (let n = 0; n < 101; n++) {
      read.remember(own(n), { session: "s", models: ["m1"], outputs, at: n });
    }
    expect(read.find(own(0))).toBeUndefined();
    // At least the newest half is kept.
    expect(read.outputOf(read.find(own(51))!, "m39999")).toBe(39_999);
    expect(read.outputOf(read.find(own(100))!, "unknown")).toBe(0);
  });

  it("have no model to keep after a duel", () => {
    const read = new ReadPrefixes();
    read.remember(prefixesOf("", first), { ...facts, models: ["a", "b"], at: 1000 });
    expect(read.find(prefixesOf("", second))).toMatchObject({ model: undefined });
  });
});

describe("the expected price of an answer", () => {
  const price = { input: 10, cached_input: 1, output: 10 };
  const model = (name: string) => ({
    spec: {
      name,
      price,
      cache: USUAL_CACHE,
      provider: "p",
      upstreamName: name,
      capabilities: {},
      retries: 0,
    },
    listCost: () => 0,
  });
  const models = [model("a"), model("b")];
  const long = [user("x".repeat(40_000))];
  const conversation = (messages: readonly object[], at: number): PricedConversation => ({
    prefixes: prefixesOf("", messages),
    w: Float64Array.of(1),
    needs: { promptTokens: 10_000, answerTokens: 100 },
    isRunning: messages.length > 1,
    session: undefined,
    at,
  });
  const next = [...long, answer("y".repeat(400)), user("more")];

  /** Prices after model a has answered `long`, with its cache in use for some earlier prompts. */
  function afterAnswer(cachedTokens: number) {
    const prices = new AnswerPrices();
    const usage = { ...NO_USAGE, promptTokens: 10_000, completionTokens: 100 };
    const settle = (messages: readonly object[], cached: number) => {
      const own = conversation(messages, 0);
      const quotes = new Map(models.map((one) => [one.spec.name, prices.quote(one, own)!]));
      const paid = { model: "a", usage: { ...usage, cachedTokens: cached }, cost: 0.1 };
      return prices.settle(own, models, quotes, [{ ...paid, isWhole: true }]);
    };
    settle(long, 0);
    for (let i = 0; i < 30; i++) settle(long, cachedTokens);
    return prices;
  }

  it("is lower for the model that has read the conversation, by the cost of reading it again", () => {
    const prices = afterAnswer(10_000);
    const [a, b] = models.map((one) => prices.quote(one, conversation(next, 1000))!);
    expect(a!.cached).toBeGreaterThan(9000);
    expect(b!.cached).toBe(0);
    // 10,000 tokens at 10 dollars per million, instead of 1 dollar.
    expect(b!.expected - a!.expected).toBeGreaterThan(0.08);
    expect(b!.expected - a!.expected).toBeLessThan(0.09);
  });

  it("is the same for both after the lifetime, and if the upstream reports no cached tokens", () => {
    const quotes = (cached: number, at: number) => {
      const prices = afterAnswer(cached);
      return models.map((one) => prices.quote(one, conversation(next, at))!.expected);
    };
    const [late, other] = quotes(10_000, 301_000);
    expect(late).toBeCloseTo(other!, 5);
    const [uncached, cold] = quotes(0, 1000);
    expect(cold! - uncached!).toBeLessThan(0.01);
  });
});
