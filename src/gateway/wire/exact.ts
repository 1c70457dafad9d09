/** JSON values whose integers keep all their digits when they are written again. */

/** An integer above 2^53, or below -2^53, as its digits. JSON.stringify writes these. */
export interface ExactInteger {
  readonly rawJSON: string;
}

/** Methods of JSON that TypeScript does not declare yet. */
const json = JSON as unknown as {
  rawJSON(text: string): ExactInteger;
  isRawJSON(value: unknown): value is ExactInteger;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown,
  ): unknown;
};

/** Digits of which there are too many for a number. */
const LARGE = /\d{16}/;

/** Parses a JSON text. Throws a SyntaxError if it is not JSON. */
export function exactJson(text: string): unknown {
  if (!LARGE.test(text)) return JSON.parse(text);
  return json.parse(text, (_, value, { source }) =>
    typeof value === "number" && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
      ? json.rawJSON(source)
      : value,
  );
}

export function isExact(value: unknown): value is ExactInteger {
  return json.isRawJSON(value);
}
