import { isRecord, type Json } from "../wire/json.ts";

/**
 * A value that a JSON schema allows, made from the text if possible: for the arguments of tools
 * and for answers with a schema. It supports the commonly used parts of JSON schema.
 */
export function sampleOf(
  schema: unknown,
  text: string,
  root: unknown = schema,
  depth = 0,
): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null;
  const inner = (other: unknown) => sampleOf(other, text, root, depth + 1);
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (typeof schema.$ref === "string") return inner(lookUp(root, schema.$ref));
  for (const choices of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(choices)) return inner(choices[0]);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  const number = Number(/-?\d+(\.\d+)?/.exec(text)?.[0] ?? 1);
  switch (type) {
    case "string":
      return stringOf(schema, text);
    case "integer":
      return within(schema, Math.round(number));
    case "number":
      return within(schema, number);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return Array.from({ length: numberIn(schema.minItems) ?? 1 }, () => inner(schema.items));
    default: {
      const properties = isRecord(schema.properties) ? schema.properties : {};
      return Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [name, inner(value)]),
      );
    }
  }
}

const MAX_DEPTH = 16;

function stringOf(schema: Json, text: string): string {
  if (schema.format === "date") return "2024-01-01";
  if (schema.format === "date-time") return "2024-01-01T00:00:00Z";
  const most = numberIn(schema.maxLength) ?? text.length;
  return text.slice(0, most).padEnd(numberIn(schema.minLength) ?? 0, ".");
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
