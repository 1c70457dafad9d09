import { z } from "zod";
import { InputError } from "../../core/input/input-error.ts";
import { type Line, readLines } from "../../core/input/lines.ts";
import { rowsOf } from "../../core/input/rows.ts";
import { type Format, idOf, type NamedVerdict, type Row, TEXT } from "./row.ts";

/** The votes of a live log, as `joust votes export` prints them. */
export const votes: Format = {
  matches: (record) =>
    "at" in record && ["outcome", "ranking", "rating"].some((field) => field in record),
  rows: (file) => votedRows(file, readLines(file)),
};

/**
 * Votes on the same text are one query with several comparisons, called after
 * the first of them. A rating compares nothing, and a vote whose prompt was not
 * kept has no text: both are passed over.
 */
export async function* votedRows(file: string, lines: AsyncIterable<Line>): AsyncGenerator<Row> {
  const queries = new Map<string, Row & { comparisons: NamedVerdict[] }>();
  for await (const { line, row } of rowsOf(file, lines, SHAPE, REMEDY)) {
    const { query: text } = row;
    const verdicts = verdictsOf(row);
    if (text === undefined || verdicts.length === 0) continue;
    const known = queries.get(text);
    if (known) known.comparisons.push(...verdicts);
    else queries.set(text, { file, line, id: idOf(undefined, line), text, comparisons: verdicts });
  }
  if (queries.size === 0) {
    throw new InputError(
      { file },
      "has no vote that compares models on a query whose text is known",
      "a log keeps texts where joust.yaml says store: {prompts: true}; they cannot be had afterwards",
    );
  }
  yield* queries.values();
}

/** Known, so that none of them is taken for another field misspelt. */
const PASSED_OVER = Object.fromEntries(
  ["at", "x", "encoder", "model", "rating", "voter", "weight"].map((field) => [
    field,
    z.unknown().optional(),
  ]),
);
const SHAPE = z
  .object({
    ...PASSED_OVER,
    query: TEXT.optional(),
    a: TEXT.optional(),
    b: TEXT.optional(),
    outcome: z.enum(["a", "b", "tie", "both_bad"]).optional(),
    ranking: z.array(TEXT).min(2).optional(),
  })
  .refine(({ a, b, outcome }) => outcome === undefined || (a && b && a !== b), {
    message: "is not of two models",
    path: ["outcome"],
  });
const REMEDY =
  'a row is {"at": "2026-11-15T12:00:00Z", "query": "..", "a": "gpt-4", "b": "yi-34b", "outcome": "a"}, outcome one of a, b, tie, both_bad';

/** A ranking says of any two of its models which is better. */
function verdictsOf({ a, b, outcome, ranking }: z.output<typeof SHAPE>): NamedVerdict[] {
  if (outcome) return [{ a: a!, b: b!, outcome }];
  return (ranking ?? []).flatMap((better, i) =>
    ranking!.slice(i + 1).map((worse) => ({ a: better, b: worse, outcome: "a" as const })),
  );
}
