import { z } from "zod";
import { readRows } from "../../core/input/rows.ts";
import { type Format, headOf, ID, NAME, TEXT } from "./row.ts";

/** Queries with verdicts on pairs of models. */
export const comparisons: Format = {
  matches: (record) => "comparisons" in record,
  async *rows(file) {
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      yield { ...headOf(file, line, row), comparisons: row.comparisons };
    }
  },
};

const SHAPE = z.object({
  id: ID,
  query: TEXT,
  category: NAME,
  comparisons: z
    .array(
      z
        .object({ a: TEXT, b: TEXT, outcome: z.enum(["a", "b", "tie", "both_bad"]) })
        .refine(({ a, b }) => a !== b, "compares a model with itself"),
    )
    .refine((list) => list.length > 0, "holds no comparison"),
});
const REMEDY =
  'a row is {"id": "q1", "query": "..", "comparisons": [{"a": "gpt-4", "b": "yi-34b", "outcome": "a"}]}, outcome one of a, b, tie, both_bad';
