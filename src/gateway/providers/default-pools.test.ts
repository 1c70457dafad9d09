import { resolve } from "node:path";
import { expect, it } from "vitest";
import { configOf } from "../gateway.fixture.ts";
import { openCatalog } from "./catalog/catalog.ts";
import { placementOf } from "./model-specs.ts";
import { providersIn } from "./providers.ts";

const builtIn = resolve(import.meta.dirname, "../../../data/catalog");
const catalog = await openCatalog({ builtIn, updated: "/nowhere" });

it("knows a deployment of any name by the name of its model", async () => {
  const config = configOf(`
    models:
      gpt:
        model: gpt-5.4
        deployments: [{provider: azure, model: my-gpt}, {provider: azure, model: gpt-4o}]
      own: {provider: azure, model: my-gpt}`);
  const env = { AZURE_API_KEY: "k", AZURE_RESOURCE_NAME: "r" };
  const none = () => expect.fail("not needed");
  const { models } = await placementOf(config, env, none, none, async () => catalog);
  const [gpt, own] = models;
  expect(gpt!.spec).toMatchObject({
    upstreamName: "my-gpt",
    price: catalog.price("azure", "gpt-5.4"),
  });
  expect(gpt!.spec.capabilities).toEqual(catalog.facts("azure", "gpt-5.4").capabilities);
  const renames = gpt!.deployments.map(({ spec }) => spec.rules?.rename);
  expect(renames).toEqual([{ max_tokens: "max_completion_tokens" }, {}]);
  expect(own!.spec.price).toBeUndefined();
});

it("has a price for each model of the default pools", async () => {
  const keys = ["OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER"];
  const env = Object.fromEntries(keys.map((name) => [`${name}_API_KEY`, "k"]));
  const providers = providersIn(env);
  expect(providers).toHaveLength(keys.length);
  for (const { models, kind } of providers) {
    expect(models.length).toBeGreaterThan(1);
    for (const model of models) expect(catalog.price(kind, model), model).toBeDefined();
  }
});
