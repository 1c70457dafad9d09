import { z } from "zod";
import type { Outcome } from "../../core/bandit/policy.ts";
import { InputError } from "../../core/input/input-error.ts";

/** One query as a file has it, models and categories still by name. Every format is read into these. */
export interface Row {
  readonly file: string;
  readonly line: number;
  readonly id: string;
  readonly text: string;
  readonly category?: string | undefined;
  /** What the file calls the category, for messages; "category" unless said. */
  readonly categoryField?: string | undefined;
  readonly scores?: Readonly<Record<string, number>> | undefined;
  readonly costs?: Readonly<Record<string, number>> | undefined;
  readonly comparisons?: readonly NamedVerdict[] | undefined;
}

export interface NamedVerdict {
  readonly a: string;
  readonly b: string;
  readonly outcome: Outcome;
}

/** A format of jsonl, known by the shape of a file's first record. */
export interface Format {
  matches(record: Readonly<Record<string, unknown>>): boolean;
  rows(file: string): AsyncIterable<Row>;
}

/** Fields that several formats share. Null counts as absent, as pandas writes it. */
export const ID = z.union([z.string().min(1), z.number()]).nullish();
export const TEXT = z.string().refine(isFilled, "is empty");
export const NAME = z.string().refine(isFilled, "is empty").nullish();

/** What all of the project's own formats begin with; RouterBench calls the category `benchmark`. */
export function headOf(
  file: string,
  line: number,
  row: {
    readonly id?: string | number | null | undefined;
    readonly query: string;
    readonly category?: string | null | undefined;
    readonly benchmark?: string | null | undefined;
  },
): Row {
  return {
    file,
    line,
    id: idOf(row.id, line),
    text: row.query,
    category: row.category ?? row.benchmark ?? undefined,
    categoryField: row.category == null && row.benchmark != null ? "benchmark" : undefined,
  };
}

/** A row without an id is called after its line. */
export function idOf(id: string | number | null | undefined, line: number): string {
  return id == null ? `line-${line}` : String(id);
}

/** The two models of a key "A,B". */
export function splitPair(
  key: string,
  field: string,
  file: string,
  line: number,
): [string, string] {
  const [a, b, ...more] = key.split(",").map((name) => name.trim());
  if (a && b && a !== b && more.length === 0) return [a, b];
  throw new InputError(
    { file, line, field: `${field}.${key}` },
    a && a === b ? "compares a model with itself" : "does not name two models",
    'write the pair as "A,B", A and B the names of two models',
  );
}

function isFilled(text: string): boolean {
  return text.trim() !== "";
}
