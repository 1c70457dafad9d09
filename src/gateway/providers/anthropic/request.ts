import { isRecord, type Json } from "../../wire/json-value.ts";
import { conversationOf } from "./conversation.ts";
import { toolsOf } from "./tools.ts";
import { Unsupported } from "./unsupported.ts";

export interface MessagesRequest {
  readonly body: Json;
  /** The tool whose input is the answer itself, where a schema was asked for. */
  readonly answerTool: string | undefined;
  /** Whether the client wants usage at the end of a stream. */
  readonly wantsUsage: boolean;
}

/**
 * OpenAI's chat request in the terms of Anthropic's messages. What has no
 * counterpart and only shades an answer (seed, penalties, logit_bias, logprobs,
 * reasoning_effort) is left out, as Anthropic's own compatible endpoint does;
 * what would change its meaning is refused.
 */
export function messagesRequest(chat: Json, model: string, maxTokens: number): MessagesRequest {
  if (typeof chat.n === "number" && chat.n > 1) {
    throw new Unsupported("n is above 1, and it gives one answer at a time");
  }
  const { system, turns } = conversationOf(chat.messages);
  const tools = toolsOf(
    chat,
    turns.flatMap(({ content }) => content),
  );
  const instructions = [...system, ...tools.instructions];
  const options = isRecord(chat.stream_options) ? chat.stream_options : {};
  const body = {
    model,
    max_tokens: positive(chat.max_completion_tokens) ?? positive(chat.max_tokens) ?? maxTokens,
    system: instructions.length > 0 ? instructions : undefined,
    messages: turns,
    tools: tools.tools.length > 0 ? tools.tools : undefined,
    tool_choice: tools.choice,
    ...sampling(chat),
    stop_sequences: stopsOf(chat.stop),
    metadata: typeof chat.user === "string" ? { user_id: chat.user } : undefined,
    thinking: isRecord(chat.thinking) ? chat.thinking : undefined,
    stream: chat.stream === true ? true : undefined,
  };
  return { body, answerTool: tools.answerTool, wantsUsage: options.include_usage === true };
}

/**
 * Temperatures end at 1 here. Newer models take either a temperature or top_p:
 * of both the temperature goes, unless it is the neutral 1.
 */
function sampling(chat: Json): Json {
  const temperature = finite(chat.temperature);
  const topP = finite(chat.top_p);
  const rules = topP !== undefined && (temperature === undefined || temperature === 1);
  return {
    temperature: rules || temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: rules ? topP : undefined,
    top_k: finite(chat.top_k),
  };
}

/** It refuses those of nothing but blanks. */
function stopsOf(stop: unknown): string[] | undefined {
  const all = Array.isArray(stop) ? stop : [stop];
  const stops = all.filter(
    (text): text is string => typeof text === "string" && text.trim() !== "",
  );
  return stops.length > 0 ? stops : undefined;
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function positive(value: unknown): number | undefined {
  const number = finite(value);
  return number !== undefined && number >= 1 ? Math.floor(number) : undefined;
}
