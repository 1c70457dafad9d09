import { createParser } from "eventsource-parser";
import { writeUsage } from "../../providers/upstream/usage.ts";
import { isRecord, type Json } from "../../wire/json-value.ts";
import type { DuelHead, DuelWriter } from "../dialect.ts";
import { textOf } from "./answer-text.ts";

/** Writes both answers of a duel as two choices of one completion. */
export function duelWriter(duel: DuelHead): DuelWriter {
  const { created, model } = duel;
  const id = `chatcmpl-${duel.id}`;
  const chunk = (choices: readonly Json[], more: Json = {}) =>
    eventOf({ id, object: "chat.completion.chunk", created, model, choices, ...more });
  return {
    answerIn: (response) => choicesOf(JSON.parse(Buffer.from(response).toString()))[0],
    textOf: (answer) => textOf({ choices: [answer] }),
    whole: (answers, usage, joust) => {
      const choices = answers.map((answer, index) => ({ ...answer, index }));
      const body = { id, object: "chat.completion", created, model, choices };
      return JSON.stringify({ ...body, usage: writeUsage(usage), joust });
    },
    open: (joust) => {
      const delta = { role: "assistant", content: "" };
      return chunk([{ index: 0, delta, finish_reason: null }], { joust });
    },
    rewrite: (index) => rewriter((choice) => chunk([{ ...choice, index }])),
    fail: (indices, joust) => {
      const choices = indices.map((index) => ({ index, delta: {}, finish_reason: "error" }));
      return chunk(choices, { joust });
    },
    usage: (usage) => chunk([], { usage: writeUsage(usage) }),
    done: "data: [DONE]\n\n",
  };
}

/** Rewrites a stream of whole events to one event per choice. Everything else is left out. */
function rewriter(write: (choice: Json) => string): (piece: Uint8Array) => string {
  let out = "";
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === "[DONE]" || data === "") return;
      for (const choice of choicesOf(JSON.parse(data))) out += write(choice);
    },
  });
  return (piece) => {
    out = "";
    parser.feed(decoder.decode(piece, { stream: true }));
    return out;
  };
}

function eventOf(body: Json): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function choicesOf(completion: unknown): Json[] {
  const choices = isRecord(completion) ? completion.choices : undefined;
  return Array.isArray(choices) ? choices.filter(isRecord) : [];
}
