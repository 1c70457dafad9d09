import { createParser } from "eventsource-parser";
import { writeUsage } from "../../codecs/chat/usage.ts";
import type { Usage } from "../../codecs/items/answer.ts";
import { isRecord, type Json } from "../../wire/json.ts";
import { anonymousCallId } from "../call-id.ts";
import type { Dialect, DuelHead, DuelWriter, StreamText } from "../dialect.ts";
import { anonymousChoice } from "./anonymous.ts";
import { labelStream, labelWhole } from "./labels.ts";
import { readConversation } from "./request.ts";

/** OpenAI's chat completions. */
export const chat: Dialect = {
  name: "chat",
  endpoint: "chat/completions",
  passedHeaders: [],
  read: readConversation,
  label: labelWhole,
  labelStream,
  textOf: (answer) => textOf(JSON.parse(Buffer.from(answer).toString())),
  streamText: () => new ChatText(),
  errorEvent: (error) => `data: ${error.toJson()}\n\n`,
  duel: duelWriter,
};

/** Text of the first choice of a completion. */
function textOf(completion: unknown): string {
  return contentOf(completion, "message");
}

/** Puts the texts of a stream together, separately for each choice. */
export class ChatText implements StreamText {
  readonly #texts: string[] = [];
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({
    onEvent: ({ data }) => {
      if (!data.startsWith("{")) return;
      const event: unknown = JSON.parse(data);
      const choices = isRecord(event) && Array.isArray(event.choices) ? event.choices : [];
      for (const choice of choices) {
        const index = isRecord(choice) && typeof choice.index === "number" ? choice.index : 0;
        const text = contentOf({ choices: [choice] }, "delta");
        this.#texts[index] = (this.#texts[index] ?? "") + text;
      }
    },
  });

  push(piece: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
  }

  text(index = 0): string {
    return this.#texts[index] ?? "";
  }
}

function contentOf(completion: unknown, member: "message" | "delta"): string {
  if (!isRecord(completion) || !Array.isArray(completion.choices)) return "";
  const [choice] = completion.choices as unknown[];
  const message = isRecord(choice) ? choice[member] : undefined;
  return isRecord(message) && typeof message.content === "string" ? message.content : "";
}

/** Usage of both answers of a duel, without the members that only some hosts report. */
function sharedUsage(usage: Usage): Json {
  return writeUsage({ ...usage, cacheWriteTokens: 0, cost: undefined });
}

/** Writes both answers of a duel as two choices of one completion. */
function duelWriter(duel: DuelHead): DuelWriter {
  const { created, model } = duel;
  const id = `chatcmpl-${duel.id}`;
  const chunk = (choices: readonly Json[], more: Json = {}) =>
    eventOf({ id, object: "chat.completion.chunk", created, model, choices, ...more });
  const callIds = (slot: number) => (call: number) => anonymousCallId(duel, slot, call);
  const begun = new Set<number>();
  /** The delta with the role if it is the first one of its choice, otherwise without: clients join repeated texts. */
  const withRole = (index: number, { role: _, ...delta }: Json): Json => {
    if (begun.has(index)) return delta;
    begun.add(index);
    return { role: "assistant", ...delta };
  };
  return {
    answerIn: (response) => choicesOf(JSON.parse(Buffer.from(response).toString()))[0],
    textOf: (answer) => textOf({ choices: [answer] }),
    whole: (answers, usage, joust) => {
      const choices = answers.map((answer, index) => ({
        index,
        ...anonymousChoice(answer, callIds(duel.isSecond ? 1 : index)),
      }));
      const body = { id, object: "chat.completion", created, model, choices };
      return JSON.stringify({ ...body, usage: sharedUsage(usage), joust });
    },
    open: (joust) => {
      const delta = withRole(0, { content: "" });
      return chunk([{ index: 0, delta, finish_reason: null }], { joust });
    },
    rewrite: (index) =>
      rewriter((choice) => {
        const own = anonymousChoice(choice, callIds(index));
        const delta = isRecord(own.delta) ? own.delta : {};
        return chunk([{ ...own, index, delta: withRole(index, delta) }]);
      }),
    fail: (indices, joust) => {
      const choices = indices.map((index) => ({
        index,
        delta: withRole(index, {}),
        finish_reason: "error",
      }));
      return chunk(choices, { joust });
    },
    // A stream that ends with [DONE] would look complete.
    end: (usage, { isLost }) => {
      const counted = usage ? chunk([], { usage: sharedUsage(usage) }) : "";
      return isLost ? counted : `${counted}data: [DONE]\n\n`;
    },
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
