import { z } from "zod";
import { readRows } from "../../input/rows.ts";
import { type Format, ID, idOf, NAME, TEXT } from "./row.ts";

/** Plain queries, the project's and RouterBench's, which calls the category `benchmark`. */
export const queries: Format = {
  matches: (record) => "query" in record,
  async *rows(file) {
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      yield {
        file,
        line,
        id: idOf(row.id, line),
        text: row.query,
        category: row.category ?? row.benchmark ?? undefined,
        categoryField: row.category == null && row.benchmark != null ? "benchmark" : undefined,
      };
    }
  },
};

const SHAPE = z.object({ id: ID, query: TEXT, category: NAME, benchmark: NAME });
const REMEDY = 'a row is {"id": "q1", "query": "Why is the sky blue?", "category": "mmlu"}';
