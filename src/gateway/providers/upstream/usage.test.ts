import { describe, expect, it } from "vitest";
import { costOf, type Usage, usageOf } from "./usage.ts";

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
