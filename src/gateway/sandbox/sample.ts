import { isRecord, type Json } from "../wire/json.ts";

/**
 * A value that a JSON schema allows, made from the text if possible: for the arguments of tools
 * and for answers with a schema. It supports the commonly used parts of JSON schema. The JSON text of the value is
 * at most about `ROOM` characters longer than the text; values that do not fit are null or left out.
 */
export function sampleOf(schema: unknown, text: string): unknown {
  return sampled(schema, { root: schema, text, room: ROOM + text.length }, 0);
}

interface Sampling {
  readonly root: unknown;
  readonly text: string;
  /** Characters that the rest of the value may have. */
  room: number;
}

function sampled(schema: unknown, sampling: Sampling, depth: number): unknown {
  const { root, text } = sampling;
  if (!isRecord(schema) || depth > MAX_DEPTH || sampling.room <= 0) return null;
  sampling.room -= NULL_LENGTH;
  const inner = (other: unknown) => sampled(other, sampling, depth + 1);
  const taken = <T>(value: T): T => {
    sampling.room -= JSON.stringify(value)?.length ?? 0;
    return value;
  };
  if ("const" in schema) return taken(schema.const);
  if (Array.isArray(schema.enum)) return taken(schema.enum[0]);
  if (typeof schema.$ref === "string") return inner(lookUp(root, taken(schema.$ref)));
  for (const choices of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(choices)) return inner(choices[0]);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const number = Number(/-?\d+(\.\d+)?/.exec(text)?.[0] ?? 1);
  switch (type) {
    case "string":
      return taken(stringOf(schema, text, sampling.room));
    case "integer":
      return within(schema, Math.round(number));
    case "number":
      return within(schema, number);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array": {
      const items: unknown[] = [];
      const least = numberIn(schema.minItems) ?? 1;
      while (items.length < least && sampling.room > 0) {
        taken(",");
        items.push(inner(schema.items));
      }
      return items;
    }
    default: {
      const properties = isRecord(schema.properties) ? schema.properties : {};
      const entries: [string, unknown][] = [];
      for (const [name, value] of Object.entries(properties)) {
        if (sampling.room <= 0) break;
        entries.push([taken(name), inner(value)]);
      }
      return Object.fromEntries(entries);
    }
  }
}

const MAX_DEPTH = 16;
const ROOM = 100_000;
const NULL_LENGTH = 4;

function stringOf(schema: Json, text: string, room: number): string {
  if (schema.format === "date") return "2024-01-01";
  if (schema.format === "date-time") return "2024-01-01T00:00:00Z";
  const most = Math.min(numberIn(schema.maxLength) ?? text.length, room);
  return text.slice(0, most).padEnd(Math.min(numberIn(schema.minLength) ?? 0, room), ".");
}

function within(schema: Json, value: number): number {
  const least = numberIn(schema.minimum) ?? -Infinity;
  const most = numberIn(schema.maximum) ?? Infinity;
  return Math.min(most, Math.max(least, value));
}

/** Resolves a reference such as "#/$defs/car" inside the schema. */
function lookUp(root: unknown, reference: string): unknown {
  let value = root;
  for (const name of reference.replace(/^#\/?/, "").split("/")) {
    if (name === "") continue;
    value = isRecord(value) ? value[name] : undefined;
  }
  return value;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
