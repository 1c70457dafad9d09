import { isRecord, type Json } from "../wire/json.ts";

/**
 * Whether a value fits a client's JSON schema. Throws if that takes more than `limit` steps, each of which takes about as long
 * as one comparison, or if the schema refers to a part that it does not have.
 *
 * Expressions of a client (`pattern`, `patternProperties`) can take exponential time, so they are not checked, and neither are
 * formats. Keywords that accept less if a part of them accepts more (`not`, `if`, `contains`) are left out too. So a value
 * that the whole schema accepts always fits.
 */
export function fitsWithin(limit: number, schema: unknown, value: unknown): boolean {
  return new Check(schema, limit).fits(schema, value);
}

class Check {
  readonly #schema: unknown;
  #left: number;

  constructor(schema: unknown, limit: number) {
    this.#schema = schema;
    this.#left = limit;
  }

  fits(schema: unknown, value: unknown): boolean {
    this.#spend(1);
    if (!isRecord(schema)) return schema !== false;
    if (typeof schema.$ref === "string") {
      this.#spend(schema.$ref.length);
      return this.fits(targetOf(this.#schema, schema.$ref), value);
    }
    if (value === null && schema.nullable === true) return true;
    if (!this.#hasType(schema, value) || !this.#isListed(schema, value)) return false;
    if (!this.#fitsOwn(schema, value)) return false;
    // Parts that accept more can both accept a value of which `oneOf` allows one of them only.
    const any = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(any) && !any.some((part) => this.fits(part, value))) return false;
    return !Array.isArray(schema.allOf) || schema.allOf.every((part) => this.fits(part, value));
  }

  #hasType({ type }: Json, value: unknown): boolean {
    if (typeof type === "string") return isOfType(type, value);
    if (!Array.isArray(type)) return true;
    this.#spend(type.length);
    return type.some((one) => isOfType(one, value));
  }

  #isListed({ enum: listed, const: only }: Json, value: unknown): boolean {
    if (only !== undefined && !this.#isEqual(only, value)) return false;
    return !Array.isArray(listed) || listed.some((one) => this.#isEqual(one, value));
  }

  #isEqual(a: unknown, b: unknown): boolean {
    this.#spend(1);
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((one, i) => this.#isEqual(one, b[i]));
    }
    if (isRecord(a) && isRecord(b)) {
      const names = this.#namesOf(a);
      if (names.length !== this.#namesOf(b).length) return false;
      return names.every((name) => Object.hasOwn(b, name) && this.#isEqual(a[name], b[name]));
    }
    if (typeof a === "string" && typeof b === "string") {
      if (a.length !== b.length) return false;
      this.#spend(a.length / CHARACTERS);
    }
    return a === b;
  }

  #fitsOwn(schema: Json, value: unknown): boolean {
    if (typeof value === "number") return fitsNumber(schema, value);
    if (typeof value === "string") return this.#fitsText(schema, value);
    if (Array.isArray(value)) return this.#fitsList(schema, value);
    return !isRecord(value) || this.#fitsObject(schema, value);
  }

  /** Lengths are those in code points. */
  #fitsText({ minLength, maxLength }: Json, value: string): boolean {
    if (minLength === undefined && maxLength === undefined) return true;
    this.#spend(value.length / CHARACTERS);
    let length = 0;
    for (const _ of value) length++;
    return isWithin(length, minLength, maxLength);
  }

  #fitsList({ minItems, maxItems, prefixItems, items }: Json, value: readonly unknown[]): boolean {
    if (!isWithin(value.length, minItems, maxItems)) return false;
    const isTuple = Array.isArray(items);
    const first = Array.isArray(prefixItems) ? prefixItems : isTuple ? items : [];
    const others = isTuple ? true : items;
    return value.every((one, i) => {
      if (i < first.length) return this.fits(first[i], one);
      return others === undefined || this.fits(others, one);
    });
  }

  #fitsObject(schema: Json, value: Json): boolean {
    const { minProperties, maxProperties, required, properties, additionalProperties } = schema;
    const names = this.#namesOf(value);
    if (!isWithin(names.length, minProperties, maxProperties)) return false;
    if (Array.isArray(required)) {
      this.#spend(required.length);
      if (required.some((name) => typeof name === "string" && !Object.hasOwn(value, name)))
        return false;
    }
    // With patterns, it is unknown which properties are additional.
    const others = schema.patternProperties === undefined ? additionalProperties : undefined;
    return names.every((name) => {
      const isKnown = isRecord(properties) && Object.hasOwn(properties, name);
      const own = isKnown ? properties[name] : others;
      return own === undefined || this.fits(own, value[name]);
    });
  }

  #namesOf(value: Json): string[] {
    const names = Object.keys(value);
    this.#spend(names.length);
    return names;
  }

  #spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new Error("the schema takes too many steps for this value");
  }
}

/** Characters of a text that take as long as one step. */
const CHARACTERS = 16;

/** Unknown types accept everything. */
function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "boolean":
    case "number":
    case "string":
      return typeof value === type;
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    default:
      return true;
  }
}

function fitsNumber(schema: Json, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (!isWithin(value, minimum, maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  if (typeof multipleOf !== "number" || multipleOf <= 0) return true;
  // 0.3 is a multiple of 0.1, although 0.3 / 0.1 is 2.9999999999999996.
  const ratio = value / multipleOf;
  return Math.abs(ratio - Math.round(ratio)) <= 1e-9 * Math.max(1, Math.abs(ratio));
}

function isWithin(value: number, least: unknown, most: unknown): boolean {
  if (typeof least === "number" && value < least) return false;
  return typeof most !== "number" || value <= most;
}

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
