import { expect, it } from "vitest";
import type { HttpError } from "../wire/http-error.ts";
import { resolve, resolveFor, type Serving } from "./serving.ts";

/** A served configuration that has only names. */
function servingOf(routers: Readonly<Record<string, string[]>>, models: string[] = []): Serving {
  const live = Object.entries(routers).map(([name, aliases]) => [
    name,
    { name, config: { aliases } },
  ]);
  const named = new Map(models.map((name) => [name, { name }]));
  return { routers: new Map(live as never), models: named } as unknown as Serving;
}

it.each([
  ["claude-haiku", "wide"],
  ["claude-opus-5", "narrow"],
  ["claude-opus-exact", "exact"],
  ["claude-model", "claude-model"],
  ["narrow", "narrow"],
  ["auto", "wide"],
])("the name %s means %s: names come first, then the most specific alias", (name, expected) => {
  const routers = {
    wide: ["claude-*"],
    narrow: ["claude-opus-*"],
    exact: ["claude-opus-exact"],
  };
  expect(resolve({}, servingOf(routers, ["claude-model"]), name).name).toBe(expected);
});

it.each([
  ["auto", "one"],
  ["openrouter/auto", "one"],
  ["openrouter/other", "two"],
  ["joust", "joust"],
])("the alias * does not take the common name %s, which means %s", (name, expected) => {
  const serving = servingOf({ one: [], two: ["*"] }, ["joust"]);
  expect(resolve({}, serving, name).name).toBe(expected);
  const narrow = servingOf({ one: [], two: ["openrouter/*"] });
  expect(resolve({}, narrow, "openrouter/auto").name).toBe("two");
});

it("names nothing that a key may not use: no router behind an alias, no disabled model", () => {
  const serving = servingOf({ secret: ["gpt-*"], own: [] }, ["hidden", "mine"]);
  const hidden = serving.models.get("hidden") as unknown as { spec: object };
  hidden.spec = { isDisabled: true };
  const errorFor = (lists: { models?: string[]; routers?: string[] }, name: string) => {
    try {
      return resolveFor(lists, serving, name).name;
    } catch (error) {
      const { status, message, hint } = error as HttpError;
      return [status, message, hint];
    }
  };
  const key = { models: ["mine"], routers: ["own"] };
  for (const name of ["auto", "gpt-5", "hidden"]) {
    const refusal = [403, `this API key may not use \`${name}\``, "it may use own, mine"];
    expect(errorFor(key, name)).toEqual(refusal);
  }
  const others = { models: ["hidden"] };
  expect(errorFor(others, "mine")).toEqual([
    403,
    expect.any(String),
    "it may use secret, own, hidden",
  ]);
  const outdated = { models: ["removed"], routers: ["removed"] };
  expect(errorFor(outdated, "mine")).toEqual([
    403,
    expect.any(String),
    expect.stringContaining("ask the operator for a key"),
  ]);
  expect(errorFor(others, "hidden")).toEqual([
    404,
    "the model `hidden` is disabled",
    expect.any(String),
  ]);
});
