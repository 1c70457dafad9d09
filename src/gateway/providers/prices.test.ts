import { describe, expect, it } from "vitest";
import { capabilitiesOf, priceOf } from "./prices.ts";
import { providersIn } from "./providers.ts";

describe("a model has a price under each name that hosts use", () => {
  it.each([
    ["gpt-4o-mini", { input: 0.15, cached_input: 0.075, output: 0.6 }],
    ["gpt-4o-mini-2024-07-18", { input: 0.15, cached_input: 0.075, output: 0.6 }],
    ["openai/gpt-4o-mini", { input: 0.15, cached_input: 0.075, output: 0.6 }],
    ["claude-haiku-4-5-20251001", { input: 1, cached_input: 0.1, output: 5, cache_write: 1.25 }],
    ["anthropic/claude-haiku-4.5", { input: 1, cached_input: 0.1, output: 5, cache_write: 1.25 }],
    ["claude-3-5-haiku-latest", { input: 0.8, cached_input: 0.08, output: 4, cache_write: 1 }],
    ["openai/gpt-oss-20b", { input: 0.075, cached_input: 0.0375, output: 0.3 }],
    ["google/gemini-2.5-flash", { input: 0.3, cached_input: 0.03, output: 2.5 }],
  ])("%s", (name, price) => {
    expect(priceOf(name)).toEqual(price);
  });

  it.each(["llama3.2", "gpt-4o-audio", "gpt", "mistral-large-latest", "toString", "__proto__", ""])(
    "%j has no price, rather than a price of 0",
    (name) => {
      expect(priceOf(name)).toBeUndefined();
      expect(capabilitiesOf(name)).toEqual({});
    },
  );
});

it("knows the capabilities that models lack", () => {
  expect(capabilitiesOf("gpt-4o")).toEqual({
    context: 128_000,
    vision: true,
    tools: true,
    json_schema: true,
  });
  expect(capabilitiesOf("o3-mini").vision).toBe(false);
  expect(capabilitiesOf("llama-3.1-8b-instant")).toMatchObject({
    vision: false,
    tools: true,
    json_schema: false,
  });
});

it("has a price for each model of the default pools", () => {
  const keys = ["OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER"];
  const env = Object.fromEntries(keys.map((name) => [`${name}_API_KEY`, "k"]));
  const providers = providersIn(env);
  expect(providers).toHaveLength(keys.length);
  for (const { models } of providers) {
    expect(models.length).toBeGreaterThan(1);
    for (const model of models) expect(priceOf(model), model).toBeDefined();
  }
});
