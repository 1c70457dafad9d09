import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { CONFIG } from "../src/gateway/config/config.ts";

const PAGE = readFileSync(path.resolve(import.meta.dirname, "../docs/configuration.md"), "utf8");

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly required?: readonly string[];
  readonly default?: unknown;
}

/** Rows of the reference: the path of a field and its default as the page writes it. */
const documented = new Map(
  [...PAGE.matchAll(/^\| `([\w.]+\.[\w.]+)` \| (.+?) \|/gm)].map(([, field, value]) => [
    field!,
    value!,
  ]),
);

/** Fields of joust.yaml by path; NAME stands for names that the user chooses. */
const fields = fieldsOf(z.toJSONSchema(CONFIG, { io: "input" }) as Schema, "");

it("describes every field of joust.yaml, and no other", () => {
  expect(documented.size).toBeGreaterThan(50);
  const isCovered = ([field]: Field) =>
    [...documented.keys()].some((row) => field === row || field.startsWith(`${row}.`));
  expect(fields.filter((field) => !isCovered(field)).map(([field]) => field)).toEqual([]);
  const known = fields.map(([field]) => field);
  const isKnown = (row: string) =>
    known.some((field) => field === row || field.startsWith(`${row}.`));
  expect([...documented.keys()].filter((row) => !isKnown(row))).toEqual([]);
});

it("states the defaults of the schema", () => {
  for (const [field, { default: value }, isRequired] of fields) {
    const row = documented.get(field);
    if (row === undefined) continue;
    if (isRequired) expect([field, row]).toEqual([field, "required"]);
    if (value === undefined) continue;
    const text = Array.isArray(value) ? `[${value.join(", ")}]` : textOf(value);
    expect([field, row]).toEqual([field, `\`${text}\``]);
  }
});

type Field = readonly [path: string, schema: Schema, isRequired: boolean];

function fieldsOf(schema: Schema, prefix: string): Field[] {
  const { properties = {}, additionalProperties: other, required = [] } = schema;
  const named = Object.entries(properties).flatMap(([name, inner]): Field[] => {
    const field = `${prefix}${name}`;
    const nested = fieldsOf(inner, `${field}.`);
    return nested.length > 0 ? nested : [[field, inner, required.includes(name)]];
  });
  return other ? [...named, ...fieldsOf(other, `${prefix}NAME.`)] : named;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
