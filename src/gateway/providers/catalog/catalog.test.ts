import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../../core/errors/error-text.fixture.ts";
import { costOf, NO_USAGE } from "../upstream/usage.ts";
import { openCatalog } from "./catalog.ts";
import { compactModels, ModelTable } from "./model-table.ts";
import { updateCatalog } from "./update.ts";

const BUILT_IN = resolve(import.meta.dirname, "../../../../data/catalog");
const catalog = await openCatalog({ builtIn: BUILT_IN, updated: "/nowhere" });
const priceOf = (model: string) => catalog.price(undefined, model);
const capabilitiesOf = (model: string) => catalog.facts(undefined, model).capabilities;

describe("a model has a price under each name that upstreams use", () => {
  it.each([
    ["gpt-4o-mini", { input: 0.15, cached_input: 0.075, output: 0.6 }],
    ["gpt-4o-mini-2024-07-18", { input: 0.15, cached_input: 0.075, output: 0.6 }],
    ["openai/gpt-4o-mini", { input: 0.15, cached_input: 0.075, output: 0.6 }],
    [
      "claude-haiku-4-5-20251001",
      { input: 1, cached_input: 0.1, output: 5, cache_write: 1.25, cache_write_1h: 2 },
    ],
    [
      "anthropic/claude-haiku-4.5",
      { input: 1, cached_input: 0.1, output: 5, cache_write: 1.25, cache_write_1h: 2 },
    ],
    [
      "claude-3-5-haiku-latest",
      { input: 0.8, cached_input: 0.08, output: 4, cache_write: 1, cache_write_1h: 1.6 },
    ],
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

it("knows how the reasoning of a model is controlled", () => {
  const reasoningOf = (model: string) => catalog.facts("anthropic", model).reasoning;
  expect(reasoningOf("claude-haiku-4-5")).toEqual({ efforts: [], budget: 1024 });
  const efforts = ["low", "medium", "high", "xhigh", "max"];
  expect(reasoningOf("claude-opus-4-8")).toEqual({ efforts, budget: undefined });
  expect(reasoningOf("claude-3-5-sonnet-20241022")).toBe(false);
  expect(reasoningOf("nobody")).toBeUndefined();
});

it.each([
  ["bedrock-anthropic", "anthropic.claude-haiku-4-5"],
  ["bedrock-anthropic", "eu.anthropic.claude-haiku-4-5-20251001-v1:0"],
  ["vertex-anthropic", "claude-haiku-4-5@20251001"],
  ["vertex-anthropic", "claude-haiku-4-5"],
])("knows a model of %s as %s", (kind, name) => {
  const { reasoning, capabilities } = catalog.facts(kind, name);
  expect(reasoning).toEqual({ efforts: [], budget: 1024 });
  expect(capabilities.context).toBe(200_000);
});

it("keeps the ways to control reasoning, and reads data of older versions", () => {
  const options = [
    { type: "effort", values: ["low", "high", 3] },
    { type: "budget_tokens", min: 1024 },
  ];
  const api = {
    openai: {
      models: {
        a: { reasoning: true, reasoning_options: options },
        b: { reasoning: true, reasoning_options: [] },
        c: { reasoning: false },
      },
    },
  };
  const made = compactModels(api, "s", "2031-02-03");
  expect(made.models.openai).toEqual({
    a: [0, 0, "----1", "low high", 1024],
    b: [0, 0, "----1"],
    c: [0, 0, "----0"],
  });
  const facts = (file: typeof made, name: string) => new ModelTable(file).facts("openai", name);
  expect(facts(made, "a").reasoning).toEqual({ efforts: ["low", "high"], budget: 1024 });
  expect([facts(made, "b").reasoning, facts(made, "c").reasoning]).toEqual([undefined, false]);
  const older = { ...made, models: { openai: { a: [0, 0, "1111"] as const } } };
  expect(facts(older, "a")).toMatchObject({ temperature: true, reasoning: undefined });
});

/** A server with both sources, and a folder for the update. */
async function startSources(models: unknown, prices: unknown, changed?: string) {
  const server = createServer(({ url }, response) => {
    const body = url === "/api.json" ? models : prices;
    if (body === undefined) return response.writeHead(404).end();
    const headers = changed === undefined ? {} : { "last-modified": changed };
    return response
      .writeHead(200, headers)
      .end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const folder = mkdtempSync(join(tmpdir(), "joust-catalog-"));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addresses = { models: `${url}/api.json`, prices: `${url}/data.json` };
  const today = new Date("2031-02-03T04:05:06Z");
  return { folder, update: () => updateCatalog(addresses, folder, today) };
}

const MODELS = {
  openai: {
    models: {
      "gpt-9": {
        limit: { context: 5_000_000, output: 9000 },
        modalities: { input: ["text", "image"], output: ["text"] },
        tool_call: true,
        temperature: false,
      },
      "image-9": { modalities: { input: ["text"], output: ["image"] } },
    },
  },
  unknown: { models: { x: {} } },
};
const PRICES = [
  {
    id: "openai",
    name: "OpenAI",
    api_pattern: "https://api\\.openai\\.com",
    model_match: { starts_with: "gpt-" },
    models: [
      {
        id: "gpt-9",
        match: { equals: "gpt-9" },
        prices: {
          input_mtok: { base: 7, tiers: [{ start: 200_000, price: 14 }] },
          output_mtok: 70,
        },
      },
    ],
  },
];

describe("an update", () => {
  it("replaces the built-in data if it is newer, and states its date", async () => {
    const { folder, update } = await startSources(MODELS, PRICES);
    expect(await update()).toMatchObject({
      models: { date: "2031-02-03", count: 1 },
      prices: { date: "2031-02-03", count: 1 },
    });
    const updated = await openCatalog({ builtIn: BUILT_IN, updated: folder });
    expect(updated.models.date).toBe("2031-02-03");
    expect(updated.prices.date).toBe("2031-02-03");
    expect(updated.price("openai", "gpt-9")).toEqual({ input: 7, cached_input: 7, output: 70 });
    expect(updated.facts("openai", "gpt-9")).toEqual({
      capabilities: { context: 5_000_000, vision: true, tools: true, json_schema: undefined },
      maxAnswer: 9000,
      temperature: false,
    });
  });

  it("has the date of the file, and older data than the built-in is not used", async () => {
    const { folder, update } = await startSources(MODELS, PRICES, "Mon, 03 Feb 2020 04:05:06 GMT");
    expect(await update()).toMatchObject({ models: { date: "2020-02-03" } });
    const updated = await openCatalog({ builtIn: BUILT_IN, updated: folder });
    expect(updated.models.date).toBe(catalog.models.date);
    expect(updated.facts("openai", "gpt-9").capabilities).toEqual({});
  });

  it.each([
    ["a missing source", undefined, PRICES, /api\.json.*the server answered 404/],
    ["models that are not JSON", "<html>", PRICES, /api\.json.*is not JSON/],
    ["no models", {}, PRICES, /lists no model/],
    ["no prices", MODELS, [], /data\.json.*lists no provider/],
  ])("with %s changes nothing", async (_, models, prices, error) => {
    const { folder, update } = await startSources(models, prices);
    await expect(update()).rejects.toThrow(errorText(error));
    const same = await openCatalog({ builtIn: BUILT_IN, updated: folder });
    expect(same.models.date).toBe(catalog.models.date);
  });
});

it("keeps only what is used of models.dev", () => {
  const { models, license } = compactModels(MODELS, "s", "2031-02-03");
  expect(models).toEqual({ openai: { "gpt-9": [5_000_000, 9000, "11-0-"] } });
  expect(license).toContain("MIT");
});

it("knows longest answers and refused temperatures", () => {
  expect(catalog.facts("openai", "gpt-5-mini")).toMatchObject({
    maxAnswer: 128_000,
    temperature: false,
  });
  expect(catalog.facts("anthropic", "claude-haiku-4-5")).toMatchObject({
    maxAnswer: 64_000,
    temperature: true,
  });
});

it("prices depend on the provider, and local upstreams have none", () => {
  expect(catalog.price("groq", "llama-3.1-8b-instant")).toMatchObject({ input: 0.05 });
  expect(
    catalog.price("bedrock-anthropic", "anthropic.claude-haiku-4-5-20251001-v1:0"),
  ).toBeDefined();
  expect(catalog.price("ollama", "gpt-4o-mini")).toBeUndefined();
});

it("writing to a cache for an hour costs twice the input", () => {
  const price = catalog.price("anthropic", "claude-haiku-4-5")!;
  const usage = { ...NO_USAGE, promptTokens: 1000, cacheWriteTokens: 1000 };
  expect(costOf(usage, price)).toBeCloseTo(0.00125);
  expect(costOf({ ...usage, cacheWrite1hTokens: 1000 }, price)).toBeCloseTo(0.002);
});
