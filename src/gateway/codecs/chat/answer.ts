import type { Json } from "../../wire/json.ts";
import type { Answer, Choice } from "../items/answer.ts";
import type { Item, MessageItem, Part, ReasoningItem } from "../items/item.ts";
import { extraFor, extraOf, num, record, records, str } from "../items/read.ts";
import type { ItemRequest } from "../items/request.ts";
import { readAssistant, writeCall } from "./messages.ts";
import { readContent } from "./parts.ts";
import { finishReason, readStop, readUsage, writeUsage } from "./usage.ts";

export function parseAnswer(body: Json): Answer {
  const model = str(body.model) ?? "";
  const error = record(body.error);
  return {
    id: str(body.id) ?? "",
    model,
    created: num(body.created) || undefined,
    choices: records(body.choices).map((choice) => readAnswerChoice(choice, model)),
    usage: readUsage(body.usage),
    error: error && {
      message: str(error.message) ?? "",
      type: str(error.type),
      code: str(error.code),
    },
    extra: extraOf(body, KNOWN, "chat"),
  };
}

const KNOWN: ReadonlySet<string> = new Set([
  ...["id", "object", "created", "model", "choices", "usage", "error"],
]);

function readAnswerChoice(choice: Json, model: string): Choice {
  const message = record(choice.message) ?? {};
  const logprobs = records(record(choice.logprobs)?.content);
  const content = readContent(message.content);
  const [first, ...others] = content;
  const parts: Part[] =
    logprobs.length > 0 && first?.type === "text" ? [{ ...first, logprobs }, ...others] : content;
  return {
    items: readAssistant(message, parts, model),
    stop: readStop(choice.finish_reason),
  };
}

export function writeAnswer(answer: Answer, request?: ItemRequest): Json {
  const legacy = request?.legacyFunctions === true;
  return {
    id: answer.id,
    object: "chat.completion",
    created: answer.created ?? 0,
    model: answer.model,
    choices: answer.choices.map(({ items, stop }, index) => ({
      index,
      message: writeMessage(items, legacy),
      logprobs: writeLogprobs(items),
      finish_reason: finishReason(stop, legacy),
    })),
    usage: answer.usage && writeUsage(answer.usage),
    ...extraFor(answer.extra, "chat"),
  };
}

/** Writes all items of an answer as one message. Texts of different items are paragraphs. */
function writeMessage(items: readonly Item[], legacy: boolean): Json {
  const messages = items.filter((item) => item.type === "message");
  const reasoning = items.filter((item) => item.type === "reasoning");
  const calls = items.filter((item) => item.type === "function_call").map(writeCall);
  const thoughts = reasoning.flatMap(({ text, summary }: ReasoningItem) => [...text, ...summary]);
  return {
    role: "assistant",
    content: joined(messages, "text"),
    refusal: joined(messages, "refusal"),
    reasoning_content: thoughts.length > 0 ? thoughts.join("\n\n") : undefined,
    ...(calls.length > 0 &&
      (legacy ? { function_call: calls[0]!.function } : { tool_calls: calls })),
  };
}

function joined(messages: readonly MessageItem[], type: "text" | "refusal"): string | null {
  const texts = messages.map(({ content }) =>
    content.map((part) => (part.type === type ? part.text : "")).join(""),
  );
  return texts.filter((text) => text !== "").join("\n\n") || null;
}

function writeLogprobs(items: readonly Item[]): Json | null {
  const content = items.flatMap((item) =>
    item.type === "message"
      ? item.content.flatMap((part) => (part.type === "text" ? (part.logprobs ?? []) : []))
      : [],
  );
  return content.length > 0 ? { content, refusal: null } : null;
}
