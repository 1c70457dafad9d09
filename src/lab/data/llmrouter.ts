import { z } from "zod";
import { readRows } from "../../core/input/rows.ts";
import { SCORES } from "./outcomes.ts";
import { type Format, ID, idOf, TEXT } from "./row.ts";

/** LLMRouter's table of 9 models: outcomes whose category is `task`; its rows have no id. */
export const llmrouter: Format = {
  matches: (record) => "scores" in record && "task" in record && !("category" in record),
  async *rows(file) {
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      yield {
        file,
        line,
        id: idOf(row.id, line),
        text: row.query,
        category: row.task,
        categoryField: "task",
        scores: row.scores,
      };
    }
  },
};

const SHAPE = z.object({ id: ID, query: TEXT, task: TEXT, scores: SCORES });
const REMEDY =
  'a row is {"task": "gsm8k", "query": "..", "scores": {"gpt-4": 0.9, "yi-34b": 0.4}}, scores within 0..1 (divide percentages by 100)';
