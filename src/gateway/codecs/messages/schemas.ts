import { isRecord, type Json } from "../../wire/json.ts";
import type { ItemRequest, Tool } from "../items/request.ts";
import type { SchemaRequest } from "../items/schema-tool.ts";

/**
 * Writes the schemas of a request in the form that Anthropic's structured outputs accept. Returns undefined if the
 * model has no structured outputs, or if the schema of the answer cannot be written in this form.
 */
export function withSchemas(request: ItemRequest, schemas: boolean): SchemaRequest | undefined {
  const { output } = request;
  if (!schemas) return undefined;
  const own = withAcceptedTools(request);
  if (output?.type !== "json_schema") return { request: own };
  const schema = acceptedSchema(output.schema);
  return schema && { request: { ...own, output: { ...output, schema } } };
}

/** The request with tools that are not strict, for models that know no strict tools. */
export function withoutStrictTools(request: ItemRequest): ItemRequest {
  return mapTools(request, (tool) => tool.type === "function" && { ...tool, strict: undefined });
}

/** Keeps `strict` only for tools whose schema is accepted, and for at most 20 tools. */
function withAcceptedTools(request: ItemRequest): ItemRequest {
  let strict = 0;
  return mapTools(request, (tool) => {
    if (tool.type !== "function" || !tool.strict) return undefined;
    const parameters = tool.parameters && acceptedSchema(tool.parameters);
    if (!parameters || ++strict > MOST_STRICT) return { ...tool, strict: undefined };
    return { ...tool, parameters };
  });
}

const MOST_STRICT = 20;

function mapTools(
  request: ItemRequest,
  change: (tool: Tool) => Tool | false | undefined,
): ItemRequest {
  const { tools } = request;
  return tools ? { ...request, tools: tools.map((tool) => change(tool) || tool) } : request;
}

/**
 * The schema in the part of JSON Schema that structured outputs accept. Objects are closed. Limits of values, such
 * as `minimum`, become part of the description, as in Anthropic's own clients. Returns undefined if this would
 * change the meaning of the schema, as with open objects, recursion and conditions.
 */
export function acceptedSchema(schema: Json): Json | undefined {
  try {
    return accepted(schema, { root: schema, open: new Set(), checked: new Set() });
  } catch (error) {
    if (error instanceof NotAccepted) return undefined;
    throw error;
  }
}

class NotAccepted extends Error {}

/** The whole schema, the references that are being checked, and those that are known not to be recursive. */
interface Place {
  readonly root: Json;
  readonly open: Set<string>;
  readonly checked: Set<string>;
}

function accepted(given: unknown, place: Place): Json {
  if (!isRecord(given)) throw new NotAccepted();
  const { $defs, definitions, $schema: _, ...schema } = given;
  const defs = given === place.root ? { $defs, definitions } : {};
  return {
    ...Object.fromEntries(
      Object.entries(defs).flatMap(([name, all]) =>
        isRecord(all) ? [[name, acceptedEach(all, place)]] : [],
      ),
    ),
    ...acceptedMembers(schema, place),
  };
}

function acceptedEach(schemas: Json, place: Place): Json {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, accepted(schema, place)]),
  );
}

function acceptedMembers(schema: Json, place: Place): Json {
  const { type, $ref, anyOf, oneOf, allOf, description, title, enum: values, ...rest } = schema;
  const head = { ...(title !== undefined && { title }) };
  if ($ref !== undefined) {
    checkReference($ref, place);
    return { $ref, ...head, ...(description !== undefined && { description }) };
  }
  if (Object.keys(rest).some((name) => MEANINGS.has(name))) throw new NotAccepted();
  const choices = anyOf ?? oneOf;
  if (Array.isArray(type)) {
    // Each type would get a copy of these lists, so that nested ones would grow without a limit.
    if (choices !== undefined || allOf !== undefined) throw new NotAccepted();
    const { description: _, title: __, ...inner } = schema;
    const each = [...new Set(type)].map((one) => acceptedMembers(membersOf(one, inner), place));
    return described({ ...head, anyOf: each }, description, {});
  }
  const lists = {
    ...(Array.isArray(choices) && { anyOf: choices.map((each) => accepted(each, place)) }),
    ...(Array.isArray(allOf) && { allOf: allOf.map((each) => accepted(each, place)) }),
  };
  const kept: Record<string, unknown> = { ...head, ...lists };
  if (values !== undefined) kept.enum = values;
  if (rest.const !== undefined) kept.const = rest.const;
  if (typeof type === "string") kept.type = type;
  const isKnown = ["type", "enum", "const", "anyOf", "allOf"].some((name) => name in kept);
  if (!isKnown) throw new NotAccepted();
  const { const: _, ...left } = rest;
  if (type === "object") return acceptedObject(kept, left, description, place);
  if (type === "array" && left.items !== undefined) {
    const { items, ...others } = left;
    return described({ ...kept, items: accepted(items, place) }, description, others);
  }
  return described(kept, description, left);
}

/** The members of a schema that concern values of one type. */
function membersOf(type: unknown, schema: Json): Json {
  const members = Object.entries(schema).filter(([name]) => (TYPES[name] ?? type) === type);
  return { ...Object.fromEntries(members), type };
}

/** The type that a member concerns, if it is only one. */
const TYPES: Readonly<Record<string, string>> = {
  ...typed("object", "properties", "required", "additionalProperties"),
  ...typed("object", "minProperties", "maxProperties"),
  ...typed("array", "items", "minItems", "maxItems", "uniqueItems"),
  ...typed("string", "minLength", "maxLength", "pattern", "format"),
};

function typed(type: string, ...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, type]));
}

function acceptedObject(kept: Json, rest: Json, description: unknown, place: Place): Json {
  const { properties = {}, additionalProperties: more = false, required, ...others } = rest;
  if (more !== false || !isRecord(properties)) throw new NotAccepted();
  const own = {
    ...kept,
    properties: acceptedEach(properties, place),
    ...(required !== undefined && { required }),
    additionalProperties: false,
  };
  return described(own, description, others);
}

/** Adds members that are not accepted to the description. */
function described(schema: Json, description: unknown, rest: Json): Json {
  const { format, minItems, default: _, examples: __, ...others } = rest;
  const left = { ...others };
  const kept: Record<string, unknown> = { ...schema };
  if (FORMATS.has(String(format))) kept.format = format;
  else if (format !== undefined) left.format = format;
  if (minItems === 0 || minItems === 1) kept.minItems = minItems;
  else if (minItems !== undefined) left.minItems = minItems;
  const limits = Object.entries(left).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const texts = [
    ...(typeof description === "string" ? [description] : []),
    ...(limits.length > 0 ? [`{${limits.join(", ")}}`] : []),
  ];
  return texts.length > 0 ? { ...kept, description: texts.join("\n\n") } : kept;
}

/** Throws if a reference leaves the schema, is recursive, or starts a chain of more than `MOST_OPEN` definitions. */
function checkReference($ref: unknown, place: Place): void {
  const { root, open, checked } = place;
  const path = String($ref);
  if (checked.has(path)) return;
  const [hash, list, name, ...rest] = path.split("/");
  const target = hash === "#" && rest.length === 0 && (list === "$defs" || list === "definitions");
  const all = target ? root[list] : undefined;
  const definition = isRecord(all) && name !== undefined ? all[name] : undefined;
  if (!isRecord(definition) || open.has(path) || open.size === MOST_OPEN) throw new NotAccepted();
  open.add(path);
  for (const inner of referencesIn(definition)) checkReference(inner, place);
  open.delete(path);
  checked.add(path);
}

const MOST_OPEN = 100;

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === "$ref" && typeof each === "string" ? [each] : referencesIn(each),
  );
}

/** Members without which a schema means something else. */
const MEANINGS: ReadonlySet<string> = new Set([
  ...["not", "if", "then", "else", "patternProperties", "propertyNames", "unevaluatedProperties"],
  ...["dependentRequired", "dependentSchemas", "prefixItems", "contains", "$dynamicRef"],
]);

const FORMATS: ReadonlySet<string> = new Set([
  ...["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
]);
