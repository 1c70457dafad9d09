import { HttpError } from "./http-error.ts";
import { isRecord } from "./json.ts";

/**
 * Path of a number in parsed JSON that is too large, such as 1e999, or undefined if there is none. JSON.parse reads it
 * as Infinity, which JSON.stringify would write as null.
 */
export function infiniteField(value: unknown, at = ""): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : at;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (typeof item === "string") continue;
      const found = infiniteField(item, `${at}[${i}]`);
      if (found !== undefined) return found;
    }
  } else if (isRecord(value)) {
    for (const name in value) {
      const member = value[name];
      if (typeof member === "string") continue;
      const found = infiniteField(member, at === "" ? name : `${at}.${name}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Throws a 400 that names the number in parsed JSON that is too large. `at` is the path of the value. */
export function checkFinite(value: unknown, at = ""): void {
  const param = infiniteField(value, at);
  if (param === undefined) return;
  throw new HttpError(400, `${param}: is too large for a number`, {
    hint: "send a number of at most 1.8e308, or a text",
    code: "invalid_value",
    param,
  });
}

/** Does the same as `checkFinite` for JSON text, which is parsed only if it may have such a number. */
export function checkFiniteText(json: string, at: string): void {
  if (MAY_BE_INFINITE.test(json)) checkFinite(JSON.parse(json), at);
}

/** Matches every number of 10^308 or more: it has an exponent of two digits or more, or 200 digits in a row. */
const MAY_BE_INFINITE = /\d[eE]\+?\d\d|\d{200}/;
