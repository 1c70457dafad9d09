import { z } from "zod";
import { InputError } from "../../core/input/input-error.ts";
import { readRows } from "../../core/input/rows.ts";
import { CONVERSATION, lastHumanTurn } from "./conversation.ts";
import { type Format, ID, idOf, type NamedVerdict, type Row, TEXT } from "./row.ts";

/**
 * Chatbot Arena: one vote a row. Votes on the same text are one query with
 * several comparisons, called after the first of them.
 */
export const arena: Format = {
  matches: (record) => "model_a" in record && "model_b" in record,
  async *rows(file) {
    const queries = new Map<string, Row & { comparisons: NamedVerdict[] }>();
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      const text = row.prompt ?? lastHumanTurn(row.conversation_a ?? "");
      if (text === "") {
        const field = row.conversation_a == null ? "prompt" : "conversation_a";
        throw new InputError({ file, line, field }, "holds no question", REMEDY);
      }
      const verdict = { a: row.model_a, b: row.model_b, outcome: OUTCOMES[row.winner] };
      const known = queries.get(text);
      if (known) known.comparisons.push(verdict);
      else {
        const id = idOf(row.question_id ?? row.id, line);
        queries.set(text, { file, line, id, text, comparisons: [verdict] });
      }
    }
    yield* queries.values();
  },
};

const OUTCOMES = {
  model_a: "a",
  model_b: "b",
  tie: "tie",
  "tie (bothbad)": "both_bad",
  both_bad: "both_bad",
} as const;

const SHAPE = z
  .object({
    id: ID,
    question_id: ID,
    prompt: TEXT.nullish(),
    conversation_a: CONVERSATION.nullish(),
    model_a: TEXT,
    model_b: TEXT,
    winner: z.enum(["model_a", "model_b", "tie", "tie (bothbad)", "both_bad"]),
  })
  .refine((row) => row.model_a !== row.model_b, {
    message: "is model_a again",
    path: ["model_b"],
  });
const REMEDY =
  'a row is {"model_a": "gpt-4", "model_b": "yi-34b", "winner": "model_a", "prompt": ".."}; "conversation_a" may stand for "prompt"';
