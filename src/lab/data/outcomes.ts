import { z } from "zod";
import { readRows } from "../../core/input/rows.ts";
import { type Format, headOf, ID, NAME, TEXT } from "./row.ts";

/** Queries with every model's own score, and cost in USD if known. */
export const outcomes: Format = {
  matches: (record) => "scores" in record,
  async *rows(file) {
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      yield { ...headOf(file, line, row), scores: row.scores, costs: row.costs ?? undefined };
    }
  },
};

/** score by model */
export const SCORES = z.record(z.string(), z.number().min(0).max(1));

const SHAPE = z.object({
  id: ID,
  query: TEXT,
  category: NAME,
  benchmark: NAME,
  scores: SCORES,
  costs: z.record(z.string(), z.number().min(0)).nullish(),
});
const REMEDY =
  'a row is {"id": "q1", "query": "..", "scores": {"gpt-4": 0.9, "yi-34b": 0.4}}, scores within 0..1 (divide percentages by 100), costs not below 0';
