import { describe, expect, it } from "vitest";
import { fitsSchema } from "./output-schema.ts";

/** Whether a value, written as JSON, fits a schema. */
function fits(schema: unknown, value: unknown): boolean {
  const format = { type: "json_schema", json_schema: { name: "x", schema } };
  const members = { value: (name: string) => (name === "response_format" ? format : undefined) };
  return fitsSchema(members, JSON.stringify(value));
}

describe("the check of an answer's schema", () => {
  it("compares types, properties, lists and references", () => {
    const schema = {
      $defs: { node: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
      type: "object",
      properties: {
        nodes: { type: "array", items: { $ref: "#/$defs/node" }, minItems: 1 },
        kind: { enum: ["a", "b"] },
        size: { oneOf: [{ type: "number" }, { type: "null" }] },
      },
      additionalProperties: false,
    };
    expect(fits(schema, { nodes: [{ n: 1 }], kind: "a", size: null })).toBe(true);
    for (const wrong of [
      { nodes: [{}] },
      { nodes: [] },
      { kind: "c" },
      { size: "1" },
      { more: 1 },
    ]) {
      expect([wrong, fits(schema, wrong)]).toEqual([wrong, false]);
    }
  });

  it("runs no expression of a client", () => {
    const slow = "^(a+)+$";
    const value = `${"a".repeat(40)}!`;
    const text = { type: "string", pattern: slow };
    const schemas = [
      text,
      { type: "string", format: "emoji", pattern: slow },
      { $defs: { t: text }, $ref: "#/$defs/t" },
      { anyOf: [text] },
      { oneOf: [text, { type: "string" }] },
      { allOf: [text] },
      { not: text },
    ];
    for (const schema of schemas) expect([schema, fits(schema, value)]).toEqual([schema, true]);
    const keys = [
      { type: "object", patternProperties: { [slow]: {} }, additionalProperties: false },
      { type: "object", propertyNames: text },
      { type: "object", properties: { list: { type: "array", contains: text } } },
    ];
    for (const schema of keys) {
      expect([schema, fits(schema, { [value]: 1, list: [1] })]).toEqual([schema, true]);
    }
  });

  it("does not read a schema that takes long, and does not count it against the answer", () => {
    const twice = (of: unknown) => ({ anyOf: [of, of] });
    let nested: unknown = { type: "null" };
    for (let depth = 0; depth < 40; depth++) nested = twice(nested);
    const $defs: Record<string, unknown> = { d40: { type: "null" } };
    for (let d = 0; d < 40; d++) $defs[`d${d}`] = twice({ $ref: `#/$defs/d${d + 1}` });
    const endless = { type: "object", properties: { a: { $ref: "#" } } };
    const types: unknown = Array.from({ length: 40 }).reduce(
      (a) => ({ type: Array(40).fill("object"), properties: { a } }),
      { type: "null" },
    );
    expect(fits(types, { a: 1 })).toBe(false);
    const properties = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`p${i}`, {}]));
    const wide = { type: "object", properties };
    for (const schema of [nested, { $defs, $ref: "#/$defs/d0" }, endless, wide]) {
      expect(fits(schema, 1)).toBe(true);
    }
    const items = { type: "array", items: { anyOf: Array(500).fill({ type: "null" }) } };
    expect([fits(items, [1]), fits(items, Array(1e5).fill(1))]).toEqual([false, true]);
  });
});
