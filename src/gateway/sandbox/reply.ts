import type { Random } from "../../core/random/random.ts";
import { textOf } from "../dialects/chat/prompt.ts";
import { isRecord, type Json } from "../wire/json.ts";
import type { Voice } from "./profile.ts";
import type { SandboxChat } from "./request.ts";
import { sampleOf } from "./sample.ts";

/** One choice of an answer. */
export interface Reply {
  readonly content: string;
  readonly call?: { readonly name: string; readonly arguments: string };
  readonly finish: "stop" | "length" | "tool_calls";
}

export const NOTE = "[Joust sandbox: simulated answer, no real model was called.]";

/** Puts an answer into the requested format and the model's style, or calls a tool. */
export function replyTo(chat: SandboxChat, answer: string, voice: Voice, random: Random): Reply {
  const called = callFor(chat);
  if (called) {
    const { name, parameters } = called;
    const input = JSON.stringify(sampleOf(parameters ?? {}, chat.text));
    return { content: "", call: { name: String(name), arguments: input }, finish: "tool_calls" };
  }
  return cut(contentOf(chat, answer, voice, random), chat);
}

function contentOf(chat: SandboxChat, answer: string, voice: Voice, random: Random): string {
  if (chat.format.type === "json_schema" && isRecord(chat.format.json_schema)) {
    return JSON.stringify(sampleOf(chat.format.json_schema.schema, answer));
  }
  if (chat.format.type === "json_object") {
    return JSON.stringify({ answer, note: NOTE });
  }
  const any = (texts: readonly string[]) => texts[random.integer(texts.length)]!;
  const result = resultIn(chat.messages.at(-1));
  const body = result === undefined ? answer : `The tool returned: ${result}`;
  return `${any(voice.openings)}${answerText(body)}${any(voice.closings)}\n\n${NOTE}`;
}

/** An answer as it is written: code stands in a block. */
export function answerText(answer: string): string {
  return /^\s*(def|class|import|from) /.test(answer)
    ? `\n\`\`\`python\n${answer}\n\`\`\`\n`
    : answer;
}

/** The function to call: the required one, or the one that shares most words with the prompt. */
function callFor({ tools, toolChoice, messages, text }: SandboxChat): Json | undefined {
  const functions = tools.flatMap(({ function: called }) => (isRecord(called) ? [called] : []));
  if (toolChoice === "none" || resultIn(messages.at(-1)) !== undefined) return undefined;
  if (isRecord(toolChoice) && isRecord(toolChoice.function)) {
    const { name } = toolChoice.function;
    return functions.find((called) => called.name === name);
  }
  const words = new Set(wordsOf(text));
  const similarity = (called: Json) =>
    wordsOf(`${called.name} ${called.description ?? ""}`).filter((word) => words.has(word)).length;
  const [best] = functions.toSorted((a, b) => similarity(b) - similarity(a));
  return best && (toolChoice === "required" || similarity(best) > 0) ? best : undefined;
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}{4,}/gu) ?? []) as string[];
}

/** The result of a tool, if that is the last message. */
function resultIn(message: unknown): string | undefined {
  return isRecord(message) && message.role === "tool" ? textOf(message.content) : undefined;
}

function cut(content: string, { stops, maxTokens }: SandboxChat): Reply {
  const ends = stops.map((stop) => content.indexOf(stop)).filter((at) => at >= 0);
  const stopped = content.slice(0, Math.min(content.length, ...ends));
  const tokens = tokensOf(stopped);
  if (tokens.length <= maxTokens) return { content: stopped, finish: "stop" };
  return { content: tokens.slice(0, maxTokens).join(""), finish: "length" };
}

/** Splits a text into pieces of about one token. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S{1,6}|\s+/gu) ?? [];
}
