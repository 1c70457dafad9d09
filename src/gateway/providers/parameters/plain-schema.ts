import { isRecord, type Json } from "../../wire/json.ts";

/** Tools of chat completions whose schemas have only members that Google's older form of schemas knows. */
export function plainTools(tools: readonly unknown[]): unknown[] {
  return tools.map((tool) => {
    if (!isRecord(tool) || !isRecord(tool.function) || !isRecord(tool.function.parameters)) {
      return tool;
    }
    const parameters = plainSchema(tool.function.parameters);
    return { ...tool, function: { ...tool.function, parameters } };
  });
}

/** The schema without limits that the form cannot express, such as `propertyNames`. It accepts at least the same values. */
export function plainSchema(schema: Json): Json {
  const { type, const: constant, oneOf, anyOf = oneOf, properties, items } = schema;
  const kept = Object.fromEntries(Object.entries(schema).filter(([name]) => KEPT.has(name)));
  const types = Array.isArray(type) ? type.filter((each) => each !== "null") : [type];
  return {
    ...kept,
    ...(types.length === 1 && types[0] !== undefined && { type: types[0] }),
    ...(Array.isArray(type) && type.includes("null") && { nullable: true }),
    ...(typeof constant === "string" && { enum: [constant] }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.filter(isRecord).map(plainSchema) }),
    ...(isRecord(items) && { items: plainSchema(items) }),
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, value]) => [
          name,
          isRecord(value) ? plainSchema(value) : {},
        ]),
      ),
    }),
  };
}

/** Members that stay as they are. */
const KEPT: ReadonlySet<string> = new Set([
  ...["description", "title", "enum", "format", "required", "nullable", "minimum", "maximum"],
  ...["minItems", "maxItems", "minLength", "maxLength", "pattern"],
]);
