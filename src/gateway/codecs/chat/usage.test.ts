import { describe, expect, it } from "vitest";
import type { Usage } from "../items/answer.ts";
import { readUsage, writeUsage } from "./usage.ts";

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
      "reasoning in addition to the completion",
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 45 },
      { promptTokens: 10, completionTokens: 35 },
    ],
    ["embeddings", { prompt_tokens: 8, total_tokens: 8 }, { promptTokens: 8, completionTokens: 0 }],
    ["DeepSeek", { prompt_tokens: 8, prompt_cache_hit_tokens: 6 }, { cachedTokens: 6 }],
    ["OpenRouter", { prompt_tokens: 8, completion_tokens: 1, cost: 0.25 }, { cost: 0.25 }],
    [
      "OpenRouter's cache",
      {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 20 },
      },
      { promptTokens: 100, cachedTokens: 40, cacheWriteTokens: 20 },
    ],
    [
      "more cached tokens than tokens",
      {
        prompt_tokens: 10,
        prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 9 },
      },
      { cachedTokens: 8, cacheWriteTokens: 2 },
    ],
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
      cacheWriteTokens: 3,
      cacheWrite1hTokens: 0,
      completionTokens: 7,
      reasoningTokens: 2,
      cost: 0.5,
    };
    expect(readUsage(writeUsage(usage))).toEqual(usage);
  });
});
