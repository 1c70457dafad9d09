import { resolve } from "node:path";
import { expect, it } from "vitest";
import { openCatalog } from "./catalog/catalog.ts";
import { providersIn } from "./providers.ts";

it("has a price for each model of the default pools", async () => {
  const builtIn = resolve(import.meta.dirname, "../../../data/catalog");
  const catalog = await openCatalog({ builtIn, updated: "/nowhere" });
  const keys = ["OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "GROQ", "OPENROUTER"];
  const env = Object.fromEntries(keys.map((name) => [`${name}_API_KEY`, "k"]));
  const providers = providersIn(env);
  expect(providers).toHaveLength(keys.length);
  for (const { models, kind } of providers) {
    expect(models.length).toBeGreaterThan(1);
    for (const model of models) expect(catalog.price(kind, model), model).toBeDefined();
  }
});
