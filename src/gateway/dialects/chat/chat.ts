import { chatCodec } from "../../codecs/chat/codec.ts";
import { writeUsage } from "../../codecs/chat/usage.ts";
import type { Choice, Usage } from "../../codecs/items/answer.ts";
import type { ItemEvent } from "../../codecs/items/event.ts";
import { answerId } from "../../codecs/translate.ts";
import type { UpstreamError } from "../../providers/upstream/error.ts";
import { isRecord, type Json } from "../../wire/json.ts";
import { AnonymousEvents, anonymousAnswer } from "../anonymous.ts";
import { answerText, streamText, textIn } from "../answer-text.ts";
import { anonymousCallId } from "../call-id.ts";
import type { Dialect, DuelHead, DuelWriter } from "../dialect.ts";
import { type Rewriter, rewriter } from "../rewriter.ts";
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
  textOf: (answer) => answerText("chat", answer),
  streamText: () => streamText("chat"),
  errorEvent,
  duel: duelWriter,
};

function errorEvent(error: UpstreamError): string {
  return `data: ${error.toJson()}\n\n`;
}

/**
 * Writes both answers of a duel as two choices of one completion. Each answer is read into items and written again, so
 * that its form does not show whether it was translated: a chunk with the role, one chunk per piece of text, a chunk
 * with the reason of the end.
 */
function duelWriter(duel: DuelHead): DuelWriter {
  const { created, model } = duel;
  const head = { id: answerId("chat", duel.id), model, created };
  const chunk = (choices: readonly Json[], more: Json) =>
    eventOf({ ...head, object: "chat.completion.chunk", choices, ...more });
  const callIds = (slot: number) => (index: number) => anonymousCallId(duel, slot, index);
  const anonymous = (answer: Json, slot: number): readonly Choice[] =>
    anonymousAnswer(chatCodec.parseAnswer({ choices: [answer] }), callIds(slot)).choices;
  const writer = chatCodec.streamWriter();
  /** Readers of the answers by index. An answer that breaks off is removed. */
  const reading = new Map<number, Rewriter>();
  /** Choices of which a chunk was written. */
  const begun = new Set<number>();
  return {
    answerIn: (response) => choicesOf(JSON.parse(Buffer.from(response).toString()))[0],
    textOf: (answer) => textIn(chatCodec.parseAnswer({ choices: [answer] })),
    whole: (answers, usage, joust) => {
      const choices = answers.flatMap((answer, slot) =>
        anonymous(answer, duel.isSecond ? 1 : slot),
      );
      const body = chatCodec.writeAnswer({ ...head, choices, usage: sharedUsage(usage) });
      return JSON.stringify({ ...body, joust });
    },
    open: (joust) => {
      begun.add(0);
      const first = writer.write({ type: "start", ...head });
      return eventOf({ ...JSON.parse(first.slice("data: ".length)), joust });
    },
    rewrite: (index) => {
      const anonymousEvents = new AnonymousEvents(callIds(index));
      // An upstream may give its only choice another number than 0.
      let own: number | undefined;
      const events = rewriter("chat", (event) => {
        if (!("choice" in event)) return "";
        own ??= event.choice;
        if (event.choice !== own) return "";
        const shown = anonymousEvents.push(event) as Extract<ItemEvent, { choice: number }>[];
        if (shown.length > 0) begun.add(index);
        return shown.map((each) => writer.write({ ...each, choice: index })).join("");
      });
      reading.set(index, events);
      return events.push;
    },
    fail: (indices, joust) => {
      for (const index of indices) reading.delete(index);
      const choices = indices.map((index) => ({
        index,
        delta: begun.has(index) ? {} : { role: "assistant", content: "" },
        logprobs: null,
        finish_reason: "error",
      }));
      return chunk(choices, { joust });
    },
    end: (usage, { error }) => {
      const ends = [...reading.values()].map((events) => events.end()).join("");
      const counted = usage ? chunk([], { usage: writeUsage(sharedUsage(usage)) }) : "";
      // A stream that ends with [DONE] would look complete.
      return `${ends}${counted}${error ? errorEvent(error) : "data: [DONE]\n\n"}`;
    },
  };
}

/** Usage of both answers of a duel, without the members that only some upstreams report. */
function sharedUsage(usage: Usage): Usage {
  return { ...usage, cacheWriteTokens: 0, cost: undefined };
}

function eventOf(body: Json): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function choicesOf(completion: unknown): Json[] {
  const choices = isRecord(completion) ? completion.choices : undefined;
  return Array.isArray(choices) ? choices.filter(isRecord) : [];
}
