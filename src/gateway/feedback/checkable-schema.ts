import { isRecord, type Json } from "../wire/json.ts";

/**
 * Copies the part of a client's JSON schema that can be checked quickly, with references replaced by their targets.
 * The copy accepts all that the schema accepts. Throws if the copy has more than `limit` parts.
 *
 * Expressions of a client (`pattern`, `patternProperties`) can take exponential time, and so can some of the formats
 * that libraries check with expressions, so the copy has none of them. Keywords that accept less if a part of them
 * accepts more (`not`, `if`, `contains`) are left out too. A copy without references is a tree, so checking it takes at
 * most its size times the size of the value.
 */
export function checkableSchema(schema: unknown, limit: number): Json | boolean {
  let parts = 0;
  const count = (more: number) => {
    parts += more;
    if (parts > limit) throw new Error(`the schema has more than ${limit} parts`);
  };
  const copyAll = (list: unknown) => (Array.isArray(list) ? list.map(copy) : undefined);
  const copy = (part: unknown): Json | boolean => {
    count(1);
    if (!isRecord(part)) return part !== false;
    if (typeof part.$ref === "string") return copy(targetOf(schema, part.$ref));
    const copied: Record<string, unknown> = {};
    for (const name of PLAIN) {
      const value = part[name];
      if (value === undefined) continue;
      if (Array.isArray(value)) count(value.length);
      copied[name] = value;
    }
    // A type that is named twice would be checked twice, with all parts below it.
    if (Array.isArray(part.type)) copied.type = [...new Set(part.type)];
    if (isRecord(part.properties)) {
      const properties = Object.entries(part.properties).map(([name, one]) => [name, copy(one)]);
      copied.properties = Object.fromEntries(properties);
    }
    // With patterns, it is unknown which properties are additional.
    if (part.additionalProperties !== undefined && part.patternProperties === undefined) {
      copied.additionalProperties = copy(part.additionalProperties);
    }
    if (part.items !== undefined) copied.items = copyAll(part.items) ?? copy(part.items);
    copied.prefixItems = copyAll(part.prefixItems);
    // Parts that accept more can both accept a value of which `oneOf` allows one of them only.
    copied.anyOf = copyAll(part.anyOf ?? part.oneOf);
    copied.allOf = copyAll(part.allOf);
    return copied;
  };
  return copy(schema);
}

/** Keywords whose values contain no schemas. */
const PLAIN = [
  "type",
  "enum",
  "const",
  "required",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
];

/** The part of a schema that a reference such as `#/$defs/node` names. Throws if there is none. */
function targetOf(schema: unknown, ref: string): unknown {
  const [start, ...names] = ref.split("/");
  let target: unknown = start === "#" ? schema : undefined;
  for (const name of names) {
    const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
    target = isRecord(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (target === undefined) throw new Error(`the schema has no ${ref}`);
  return target;
}
