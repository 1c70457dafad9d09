import { z } from "zod";
import { InputError } from "../../core/input/input-error.ts";
import { readRows } from "../../core/input/rows.ts";
import { CONVERSATION, lastHumanTurn } from "./conversation.ts";
import { type Format, ID, idOf, NAME, splitPair, TEXT } from "./row.ts";

/** A judge's verdicts on ordered pairs of models, all of a query in one row: cmp {"A,B": 1 | 2 | 3}. */
export const pairwise: Format = {
  matches: (record) => "cmp" in record,
  async *rows(file) {
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      const text = row.query ?? lastHumanTurn(row.conversation ?? "");
      if (text === "") {
        const field = row.conversation == null ? "query" : "conversation";
        throw new InputError({ file, line, field }, "holds no question", REMEDY);
      }
      yield {
        file,
        line,
        id: idOf(row.id, line),
        text,
        category: row.category ?? undefined,
        comparisons: Object.entries(row.cmp).map(([key, verdict]) => {
          const [a, b] = splitPair(key, "cmp", file, line);
          return { a, b, outcome: OUTCOMES[verdict] };
        }),
      };
    }
  },
};

const OUTCOMES = { 1: "a", 2: "b", 3: "tie" } as const;

const SHAPE = z.object({
  id: ID,
  category: NAME,
  query: TEXT.nullish(),
  conversation: CONVERSATION.nullish(),
  cmp: z
    .record(z.string(), z.literal([1, 2, 3]))
    .refine((cmp) => Object.keys(cmp).length > 0, "holds no comparison"),
});
const REMEDY =
  'a row is {"id": "q1", "query": "..", "cmp": {"gpt-4,yi-34b": 1}}: 1 the first is better, 2 the second, 3 neither; "conversation" may stand for "query"';
