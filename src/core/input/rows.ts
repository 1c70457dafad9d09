import type { z } from "zod";
import { messageOf } from "../errors/joust-error.ts";
import { describeIssue, show } from "./describe-issue.ts";
import { InputError, type Place } from "./input-error.ts";
import { type Line, readLines } from "./lines.ts";
import { nearest } from "./nearest.ts";

/** Reads the rows of a jsonl file and checks each against the shape. `hint` describes a row. */
export function readRows<Fields extends z.ZodRawShape>(
  file: string,
  shape: z.ZodObject<Fields>,
  hint: string,
): AsyncGenerator<{ line: number; row: z.infer<z.ZodObject<Fields>> }> {
  return rowsOf(file, readLines(file), shape, hint);
}

/** Checks lines from another source. Errors call the source `file`. */
export async function* rowsOf<Fields extends z.ZodRawShape>(
  file: string,
  lines: AsyncIterable<Line>,
  shape: z.ZodObject<Fields>,
  hint: string,
): AsyncGenerator<{ line: number; row: z.infer<z.ZodObject<Fields>> }> {
  const misspelled = spellChecker(Object.keys(shape.shape));
  for await (const line of lines) {
    const place = { file, line: line.number };
    const record = parseRecord(file, line);
    const [field, meant] = misspelled(record) ?? [];
    if (field !== undefined) {
      throw new InputError({ ...place, field }, "is unknown", `did you mean "${meant}"? ${hint}`);
    }
    yield { line: line.number, row: checkShape(place, record, shape, hint) };
  }
}

/**
 * Finds a misspelled field. Fields of the user's own are allowed, so a field counts as
 * misspelled only if it is similar to a known field that the record lacks.
 */
function spellChecker(known: readonly string[]) {
  const seen = new Map<string, string | undefined>(known.map((key) => [key, undefined]));
  return (
    record: Readonly<Record<string, unknown>>,
  ): [field: string, meant: string] | undefined => {
    for (const key in record) {
      if (!seen.has(key)) seen.set(key, nearest(key, known));
      const meant = seen.get(key);
      if (meant !== undefined && !(meant in record)) return [key, meant];
    }
    return undefined;
  };
}

/** Returns the value if it has the shape, and throws an error about its first wrong field otherwise. */
export function checkShape<T>(
  place: Omit<Place, "field">,
  value: unknown,
  shape: z.ZodType<T>,
  hint: string,
): T {
  const parsed = shape.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new InputError({ ...place, field: fieldName(path) }, message, hint);
}

/** Parses a line of jsonl, which is a JSON object. */
export function parseRecord(file: string, { number, text }: Line): Record<string, unknown> {
  const place = { file, line: number };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(
      place,
      `is not JSON (${messageOf(error)})`,
      text.startsWith("[")
        ? "write one object per line without a list around them: jq -c '.[]'"
        : /\b(NaN|Infinity)\b/.test(text)
          ? "JSON has no NaN or Infinity: write a number or leave out the row"
          : "write one JSON object per line",
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(
      place,
      `is ${show(value)}, not a JSON object`,
      "write one JSON object per line without a list around them: jq -c '.[]'",
    );
  }
  return value as Record<string, unknown>;
}

/** Formats the path ["comparisons", 0, "a"] as comparisons[0].a. */
function fieldName(path: readonly PropertyKey[]): string | undefined {
  if (path.length === 0) return undefined;
  return path.reduce<string>(
    (name, key) =>
      typeof key === "number" ? `${name}[${key}]` : name ? `${name}.${String(key)}` : String(key),
    "",
  );
}
