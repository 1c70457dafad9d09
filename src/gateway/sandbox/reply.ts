import type { Random } from "../../core/random/random.ts";
import { textOf } from "../dialects/chat/prompt.ts";
import { isRecord, type Json } from "../wire/json-value.ts";
import type { Asked } from "./asked.ts";
import { sampleOf } from "./sample.ts";
import type { Voice } from "./voices.ts";

/** One choice of an answer. */
export interface Reply {
  readonly content: string;
  readonly call?: { readonly name: string; readonly arguments: string };
  readonly finish: "stop" | "length" | "tool_calls";
}

export const NOTE = "[Joust sandbox: simulated answer, no real model was called.]";

/** What was to be said, in the form that was asked for and the model's own voice. */
export function replyTo(asked: Asked, said: string, voice: Voice, random: Random): Reply {
  const called = callFor(asked);
  if (called) {
    const { name, parameters } = called;
    const input = JSON.stringify(sampleOf(parameters ?? {}, asked.text));
    return { content: "", call: { name: String(name), arguments: input }, finish: "tool_calls" };
  }
  return cut(contentOf(asked, said, voice, random), asked);
}

function contentOf(asked: Asked, said: string, voice: Voice, random: Random): string {
  if (asked.form.type === "json_schema" && isRecord(asked.form.json_schema)) {
    return JSON.stringify(sampleOf(asked.form.json_schema.schema, said));
  }
  if (asked.form.type === "json_object") {
    return JSON.stringify({ answer: said, note: NOTE });
  }
  const any = (texts: readonly string[]) => texts[random.integer(texts.length)]!;
  const result = resultIn(asked.messages.at(-1));
  const body = result === undefined ? said : `The tool returned: ${result}`;
  const text = /^\s*(def|class|import|from) /.test(body)
    ? `\n\`\`\`python\n${body}\n\`\`\`\n`
    : body;
  return `${any(voice.openings)}${text}${any(voice.closings)}\n\n${NOTE}`;
}

/** The function to call: one that has to be, or one whose name or description speaks of what was asked. */
function callFor({ tools, toolChoice, messages, text }: Asked): Json | undefined {
  const functions = tools.flatMap(({ function: called }) => (isRecord(called) ? [called] : []));
  if (toolChoice === "none" || resultIn(messages.at(-1)) !== undefined) return undefined;
  if (isRecord(toolChoice) && isRecord(toolChoice.function)) {
    const { name } = toolChoice.function;
    return functions.find((called) => called.name === name);
  }
  const words = new Set(wordsOf(text));
  const likeness = (called: Json) =>
    wordsOf(`${called.name} ${called.description ?? ""}`).filter((word) => words.has(word)).length;
  const [best] = functions.toSorted((a, b) => likeness(b) - likeness(a));
  return best && (toolChoice === "required" || likeness(best) > 0) ? best : undefined;
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}{4,}/gu) ?? []) as string[];
}

/** What a tool gave back, if that is the last thing said. */
function resultIn(message: unknown): string | undefined {
  return isRecord(message) && message.role === "tool" ? textOf(message.content) : undefined;
}

function cut(content: string, { stops, maxTokens }: Asked): Reply {
  const ends = stops.map((stop) => content.indexOf(stop)).filter((at) => at >= 0);
  const stopped = content.slice(0, Math.min(content.length, ...ends));
  const tokens = tokensOf(stopped);
  if (tokens.length <= maxTokens) return { content: stopped, finish: "stop" };
  return { content: tokens.slice(0, maxTokens).join(""), finish: "length" };
}

/** The text in pieces of about a token. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S{1,6}|\s+/gu) ?? [];
}
