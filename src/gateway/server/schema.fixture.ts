import fc from "fast-check";

/** The part of JSON schema that /openapi.json uses for requests. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

/** Values that a schema allows, except that patterns are ignored. */
export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valuesOf));
  const { minLength = 0, maxLength = 40, minItems = 0, maxItems = 4 } = schema;
  const min = schema.minimum ?? schema.exclusiveMinimum ?? -1000;
  const max = Math.max(min, schema.maximum ?? 1000);
  switch (schema.type) {
    case "string":
      if (schema.format === "date-time") {
        return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
      }
      return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(40, maxLength)) });
    case "integer":
      return fc.integer({ min: Math.ceil(min), max: Math.floor(max) });
    case "number":
      return fc.double({ min, max, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: minItems,
        maxLength: Math.max(minItems, Math.min(4, maxItems)),
      });
    case "object": {
      const properties = Object.entries(schema.properties ?? {});
      const known = Object.fromEntries(properties.map(([name, value]) => [name, valuesOf(value)]));
      const record = fc.record(known, { requiredKeys: [...(schema.required ?? [])] });
      if (schema.additionalProperties === false) return record;
      const more = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue(), { maxKeys: 2 });
      return fc.tuple(more, record).map(([extra, own]) => ({ ...extra, ...own }));
    }
    default:
      return fc.jsonValue();
  }
}
