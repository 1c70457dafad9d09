import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { scanObject } from "../wire/json.ts";
import { fitsSchema } from "./output-schema.ts";

/** Whether a value, written as JSON, fits a schema. */
function fits(schema: unknown, value: unknown): boolean {
  const format = { type: "json_schema", json_schema: { name: "x", schema } };
  const span = { keyStart: 0, valueStart: 0, valueEnd: 1000 };
  const members = {
    value: (name: string) => (name === "response_format" ? format : undefined),
    find: (name: string) => (name === "response_format" ? span : undefined),
  };
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

  it("agrees with another checker on schemas without the keywords that are left out", () => {
    const leaf = fc.oneof(
      fc.constantFrom({ type: "null" }, { type: "boolean" }, { type: "integer" }, {}),
      fc.record({ type: fc.constant("number"), minimum: fc.nat(3), exclusiveMaximum: fc.nat(5) }),
      fc.record({ type: fc.constant("integer"), multipleOf: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ type: fc.constant("string"), minLength: fc.nat(2), maxLength: fc.nat(3) }),
      fc.record({ enum: fc.array(fc.constantFrom("a", "b", 1, null), { minLength: 1 }) }),
      fc.record({ const: fc.constantFrom("a", 2, true) }),
    );
    const name = fc.constantFrom("a", "b", "c");
    const { schema } = fc.letrec<{ schema: object }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(1) }),
        fc
          .record(
            {
              type: fc.constant("object"),
              properties: fc.dictionary(name, tie("schema")),
              required: fc.uniqueArray(name, { maxLength: 1 }),
              additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
            },
            { requiredKeys: ["type", "properties"] },
          )
          .map((one) => ({
            // The other checker ignores required names without a property.
            ...one,
            ...(one.required && { required: one.required.filter((key) => one.properties[key]) }),
          })),
        fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
      ),
    }));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, true, 0, 1, 2, 3, 1.5, -1, "", "a", "b", "abcd"),
        fc.array(tie("value"), { maxLength: 2 }),
        fc.dictionary(name, tie("value")),
      ),
    }));
    let fitting = 0;
    const check = fc.property(schema, value, (one, shown) => {
      const expected = z.fromJSONSchema(one as never).safeParse(shown).success;
      fitting += Number(expected);
      expect(fits(one, shown)).toBe(expected);
    });
    fc.assert(check, { numRuns: 3000, seed: 7 });
    expect(fitting).toBeGreaterThan(200);
    const text = { type: "string", maxLength: 2, minLength: 2 };
    expect([fits(text, "😀😀"), fits(text, "😀")]).toEqual([true, false]);
  });

  it("gives up a schema that takes long, and does not count it against the answer", () => {
    const twice = (of: unknown) => ({ anyOf: [of, of] });
    let nested: unknown = { type: "null" };
    for (let depth = 0; depth < 40; depth++) nested = twice(nested);
    const $defs: Record<string, unknown> = { d40: { type: "null" } };
    for (let d = 0; d < 40; d++) $defs[`d${d}`] = twice({ $ref: `#/$defs/d${d + 1}` });
    const loop = { $ref: "#" };
    const path = `#${"/a".repeat(3e4)}`;
    const far = {
      $defs: { far: { $ref: path } },
      anyOf: Array(5000).fill({ $ref: "#/$defs/far" }),
    };
    for (const schema of [nested, { $defs, $ref: "#/$defs/d0" }, loop, far]) {
      expect(fits(schema, 1)).toBe(true);
    }
    const anyOf = [...Array(500).fill({ type: "null" }), { type: "integer" }];
    const items = { type: "array", items: { anyOf } };
    const wrongAt = (n: number) => fits(items, [...Array(n).fill(1), "x"]);
    expect([wrongAt(10), wrongAt(1000)]).toEqual([false, true]);
    expect(fits({ type: "null" }, "x".repeat(300_000))).toBe(true);
    const sized = (size: number) => {
      const schema = { type: "null", description: "x".repeat(size) };
      const body = { response_format: { type: "json_schema", json_schema: { schema } } };
      return fitsSchema(scanObject(Buffer.from(JSON.stringify(body))), "1");
    };
    expect([sized(10), sized(300_000)]).toEqual([false, true]);
    const tree = { type: "object", properties: { a: { $ref: "#" } } };
    expect([fits(tree, { a: { a: {} } }), fits(tree, { a: { a: 1 } })]).toEqual([true, false]);
  });

  it("takes a few milliseconds of processor time at most", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1900 }, (_, i) => [`p${i}`, { type: "string" }]),
    );
    const texts = { anyOf: Array(1900).fill({ type: "string", maxLength: 5 }) };
    const numbers = { type: "array", items: { enum: Array.from({ length: 1000 }, (_, i) => i) } };
    const cases = [
      [{ type: "object", properties }, {}],
      [texts, "a".repeat(200_000)],
      [numbers, Array(40).fill(-1)],
      [{ anyOf: Array(900).fill({ const: Array(500).fill(1) }) }, Array(500).fill(1).with(499, 2)],
    ] as const;
    for (const [schema, value] of cases) {
      const times = Array.from({ length: 10 }, () => {
        const before = process.cpuUsage();
        fits(schema, value);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1000;
      });
      expect(Math.min(...times)).toBeLessThan(20);
    }
  });
});
