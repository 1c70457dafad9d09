import { describe, expect, it } from "vitest";
import { costOf, readUsage, type Usage, usageOf, writeUsage } from "./usage.ts";

describe("readUsage", () => {
  it.each<[string, object, Partial<Usage>]>([
    [
      "OpenAI",
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 40 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      { promptTokens: 100, cachedTokens: 40, completionTokens: 50, reasoningTokens: 30 },
    ],
    [
      "reasoning beside the completion",
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 45 },
      { promptTokens: 10, completionTokens: 35 },
    ],
    ["embeddings", { prompt_tokens: 8, total_tokens: 8 }, { promptTokens: 8, completionTokens: 0 }],
    ["DeepSeek", { prompt_tokens: 8, prompt_cache_hit_tokens: 6 }, { cachedTokens: 6 }],
    ["OpenRouter", { prompt_tokens: 8, completion_tokens: 1, cost: 0.25 }, { cost: 0.25 }],
    [
      "nulls",
      { prompt_tokens: 8, completion_tokens: 1, prompt_tokens_details: null },
      { cachedTokens: 0 },
    ],
  ])("%s", (_, value, expected) => {
    expect(readUsage(value)).toMatchObject(expected);
  });

  it.each([
    undefined,
    null,
    3,
    {},
    { prompt_tokens: "9" },
    { prompt_tokens: -1 },
    { prompt_tokens: 1.5 },
  ])("returns undefined for %j", (value) => {
    expect(readUsage(value)).toBeUndefined();
  });

  it("reads what writeUsage writes", () => {
    const usage = {
      promptTokens: 9,
      cachedTokens: 4,
      cacheWriteTokens: 0,
      completionTokens: 7,
      reasoningTokens: 2,
    };
    expect(readUsage(writeUsage(usage))).toEqual({ ...usage, cost: undefined });
  });
});

describe("costOf", () => {
  const usage: Usage = {
    promptTokens: 1_000_000,
    cachedTokens: 400_000,
    cacheWriteTokens: 100_000,
    completionTokens: 2_000_000,
    reasoningTokens: 1_000_000,
  };

  it("multiplies tokens by prices and counts reasoning as output", () => {
    expect(
      costOf(usage, { input: 2, output: 10, cached_input: 0.5, cache_write: 2.5 }),
    ).toBeCloseTo(0.5 * 2 + 0.4 * 0.5 + 0.1 * 2.5 + 2 * 10, 12);
  });

  it("charges the input price for cached tokens without a price of their own", () => {
    expect(costOf(usage, { input: 2, output: 10 })).toBeCloseTo(22, 12);
  });

  it("is undefined rather than 0 if usage or price is unknown", () => {
    expect(costOf(usage, undefined)).toBeUndefined();
    expect(costOf(undefined, { input: 1, output: 1 })).toBeUndefined();
  });

  it("takes the cost that the upstream reports", () => {
    expect(costOf({ ...usage, cost: 0.125 }, { input: 1, output: 1 })).toBe(0.125);
  });
});

describe("usageOf", () => {
  const usage: Usage = {
    promptTokens: 9,
    cachedTokens: 4,
    cacheWriteTokens: 0,
    completionTokens: 2,
    reasoningTokens: 0,
  };

  it("is the upstream's count for a complete answer", () => {
    expect(usageOf({ usage, events: 50, error: undefined }, 100)).toEqual(usage);
  });

  it("is a lower bound if the answer broke off or has no count", () => {
    const broken = usageOf({ usage: undefined, events: 50, error: new Error("broke") }, 100);
    expect(broken).toMatchObject({ promptTokens: 100, completionTokens: 50 });
    const begun = usageOf({ usage, events: 50, error: new Error("broke") }, 100);
    expect(begun).toMatchObject({ promptTokens: 9, cachedTokens: 4, completionTokens: 50 });
    const uncounted = usageOf({ usage: undefined, events: 0, error: undefined }, 7);
    expect(uncounted).toMatchObject({ promptTokens: 7, completionTokens: 0 });
  });
});
