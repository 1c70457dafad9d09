import { z } from "zod";
import { readRows } from "../../core/input/rows.ts";
import { type Format, headOf, ID, NAME, TEXT } from "./row.ts";

/** Plain queries, the project's and RouterBench's, which calls the category `benchmark`. */
export const queries: Format = {
  matches: (record) => "query" in record,
  async *rows(file) {
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      yield headOf(file, line, row);
    }
  },
};

/** A file whose first row has scores or comparisons is of another format. */
const LATE = z.undefined("is not on the first row, so it would be ignored").optional();

const SHAPE = z.object({
  id: ID,
  query: TEXT,
  category: NAME,
  benchmark: NAME,
  scores: LATE,
  costs: LATE,
  comparisons: LATE,
});
const REMEDY =
  'a row is {"id": "q1", "query": "Why is the sky blue?", "category": "mmlu"}, and where it has scores or comparisons all rows have them';
