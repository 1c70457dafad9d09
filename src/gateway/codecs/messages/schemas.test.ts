import { describe, expect, it } from "vitest";
import type { Json } from "../../wire/json.ts";
import type { FunctionTool, ItemRequest } from "../items/request.ts";
import { acceptedSchema, withoutStrictTools, withSchemas } from "./schemas.ts";

const object = (properties: Json, more: Json = {}): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

/** Definitions of which each refers twice to the next one. */
function chain(length: number): Json {
  const next = (i: number) => ({ $ref: `#/$defs/d${i + 1}` });
  const bodies = Array.from({ length }, (_, i) =>
    object(i + 1 < length ? { a: next(i), b: next(i) } : {}),
  );
  return { $defs: Object.fromEntries(bodies.map((body, i) => [`d${i}`, body])) };
}

describe("accepted schemas", () => {
  it("are found in time that grows with their size, not with the number of paths in them", () => {
    const many = { ...chain(90), ...object({ a: { $ref: "#/$defs/d0" } }) };
    expect(acceptedSchema(many)).toEqual(many);
    let nested = object({});
    for (let i = 0; i < 40; i++) nested = object({ a: nested }, { type: Array(8).fill("object") });
    expect(JSON.stringify(acceptedSchema(nested)).length).toBeLessThan(10_000);
  });

  it.each<[string, Json, Json]>([
    [
      "stay as they are",
      object({ a: { type: "string", format: "date", description: "d" }, b: { enum: [1, "x"] } }),
      object({ a: { type: "string", format: "date", description: "d" }, b: { enum: [1, "x"] } }),
    ],
    [
      "are closed, without a default",
      { $schema: "s", type: "object", properties: { a: { type: "integer", default: 3 } } },
      { type: "object", properties: { a: { type: "integer" } }, additionalProperties: false },
    ],
    [
      "describe limits of values",
      object({
        a: { type: "array", items: { type: "number", maximum: 2 }, maxItems: 3, minItems: 1 },
      }),
      object({
        a: {
          type: "array",
          items: { type: "number", description: "{maximum: 2}" },
          minItems: 1,
          description: "{maxItems: 3}",
        },
      }),
    ],
    [
      "have one type each",
      object({ a: { type: ["string", "null"], description: "d" } }),
      object({ a: { anyOf: [{ type: "string" }, { type: "null" }], description: "d" } }),
    ],
    [
      "have one type each, with the members that concern it",
      object({
        a: object({ b: { type: "string" } }, { type: ["object", "null"] }),
        c: { type: ["string", "null", "null"], maxLength: 5 },
      }),
      object({
        a: { anyOf: [object({ b: { type: "string" } }), { type: "null" }] },
        c: { anyOf: [{ type: "string", description: "{maxLength: 5}" }, { type: "null" }] },
      }),
    ],
    [
      "have no oneOf",
      object({ a: { oneOf: [{ type: "string" }, { const: 1 }] } }),
      object({ a: { anyOf: [{ type: "string" }, { const: 1 }] } }),
    ],
    [
      "keep their definitions",
      { ...object({ a: { $ref: "#/$defs/A" } }), $defs: { A: object({ b: { type: "null" } }) } },
      { ...object({ a: { $ref: "#/$defs/A" } }), $defs: { A: object({ b: { type: "null" } }) } },
    ],
  ])("%s", (_, given, expected) => {
    expect(acceptedSchema(given)).toEqual(expected);
  });

  it.each<[string, Json]>([
    ["an open object", object({}, { additionalProperties: { type: "string" } })],
    ["an inner open object", object({ a: object({}, { additionalProperties: true }) })],
    [
      "a recursion",
      {
        ...object({ a: { $ref: "#/$defs/A" } }),
        $defs: { A: object({ a: { $ref: "#/$defs/A" } }) },
      },
    ],
    [
      "a recursion through another definition",
      {
        ...object({ a: { $ref: "#/$defs/A" } }),
        $defs: { A: object({ b: { $ref: "#/$defs/B" } }), B: object({ a: { $ref: "#/$defs/A" } }) },
      },
    ],
    ["a reference to the whole", object({ a: { $ref: "#" } })],
    [
      "several types with choices",
      object({ a: { type: ["string", "null"], anyOf: [{ type: "string" }] } }),
    ],
    ["a long chain of definitions", { ...chain(200), ...object({ a: { $ref: "#/$defs/d0" } }) }],
    ["a condition", object({ a: { type: "string", not: { const: "" } } })],
    ["a value of any type", object({ a: {} })],
    ["a schema that is not an object", object({ a: true })],
  ])("there is none for %s", (_, given) => {
    expect(acceptedSchema(given)).toBeUndefined();
  });
});

describe("a request", () => {
  const strict = (name: string, parameters: Json): FunctionTool => {
    return { type: "function", name, parameters, strict: true };
  };
  const request: ItemRequest = { model: "m", stream: false, items: [] };
  const strictOf = ({ tools = [] }: ItemRequest) =>
    tools.map((tool) => tool.type === "function" && tool.strict);

  it("keeps strict tools only with accepted schemas, and at most 20 of them", () => {
    const open = object({}, { additionalProperties: true });
    const tools = [
      strict("open", open),
      ...Array.from({ length: 21 }, (_, i) => strict(`f${i}`, object({}))),
    ];
    const own = withSchemas({ ...request, tools }, true)!.request;
    expect(strictOf(own)).toEqual([undefined, ...Array(20).fill(true), undefined]);
    expect(own.tools?.[0]).toMatchObject({ parameters: open });
    expect(strictOf(withoutStrictTools({ ...request, tools })).every((each) => !each)).toBe(true);
  });

  it("is not written with schemas if the model has none, or the schema is not accepted", () => {
    const output = { type: "json_schema", schema: object({ a: {} }) } as const;
    expect(withSchemas({ ...request, output }, true)).toBeUndefined();
    expect(withSchemas(request, false)).toBeUndefined();
  });
});
