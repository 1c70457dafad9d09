/** The common parts of the formats of jsonl files. */
import { z } from "zod";
import { InputError } from "../../core/input/input-error.ts";
import { type Line, readLines } from "../../core/input/lines.ts";
import { rowsOf } from "../../core/input/rows.ts";
import type { NamedVerdict, Row } from "./row.ts";

/** Fields that several formats share. Null counts as missing, because pandas writes missing values as null. */
export const ID = z.union([z.string().min(1), z.number()]).nullish();
export const TEXT = z.string().refine((text) => text.trim() !== "", "is empty");

export interface Place {
  readonly file: string;
  readonly line: number;
}

export interface Format {
  matches(record: Readonly<Record<string, unknown>>): boolean;
  /** `file` is the name of the source in error messages. */
  rows(file: string, lines?: AsyncIterable<Line>): AsyncIterable<Row>;
}

export function format<Fields extends z.ZodRawShape>(
  matches: Format["matches"],
  shape: z.ZodObject<Fields>,
  hint: string,
  read: (
    row: z.infer<z.ZodObject<Fields>>,
    place: Place,
    fail: (field: string, problem: string) => InputError,
  ) => Omit<Row, keyof Place> | undefined,
): Format {
  return {
    matches,
    async *rows(file, lines = readLines(file)) {
      for await (const { line, row } of rowsOf(file, lines, shape, hint)) {
        const place = { file, line };
        const fail = (field: string, problem: string) =>
          new InputError({ ...place, field }, problem, hint);
        const found = read(row, place, fail);
        if (found) yield { ...place, ...found };
      }
    },
  };
}

/** Merges all rows with the same text into one query, which has their comparisons and the id of the first row. */
export function groupByText(one: Format, ifNone?: (file: string) => InputError): Format {
  return {
    matches: one.matches,
    async *rows(file, lines) {
      const queries = new Map<string, Row & { comparisons: NamedVerdict[] }>();
      for await (const row of one.rows(file, lines)) {
        const { comparisons = [] } = row;
        const known = queries.get(row.text);
        if (known) known.comparisons.push(...comparisons);
        else queries.set(row.text, { ...row, comparisons: [...comparisons] });
      }
      if (queries.size === 0 && ifNone) throw ifNone(file);
      yield* queries.values();
    },
  };
}
