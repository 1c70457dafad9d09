import { z } from "zod";
import { readRows } from "../../input/rows.ts";
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

const SHAPE = z.object({ id: ID, query: TEXT, category: NAME, benchmark: NAME });
const REMEDY = 'a row is {"id": "q1", "query": "Why is the sky blue?", "category": "mmlu"}';
