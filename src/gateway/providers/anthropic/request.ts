import { isRecord, type Json } from "../../wire/json-value.ts";
import { conversationOf } from "./conversation.ts";
import { toolsOf } from "./tools.ts";
import { Unsupported } from "./unsupported.ts";

export interface MessagesRequest {
  readonly body: Json;
  /** Name of the tool whose input is the answer itself, if the client requested a schema. */
  readonly answerTool: string | undefined;
  /** Whether the client wants usage at the end of a stream. */
  readonly wantsUsage: boolean;
}

/**
 * Translates OpenAI's chat request to Anthropic's messages. Members without a counterpart that
 * only influence the style of an answer (seed, penalties, logit_bias, logprobs,
 * reasoning_effort) are left out, as in Anthropic's own compatible endpoint. Members that
 * would change the meaning of the answer are refused.
 */
export function messagesRequest(chat: Json, model: string, maxTokens: number): MessagesRequest {
  if (typeof chat.n === "number" && chat.n > 1) {
    throw new Unsupported("n is above 1, and it gives one answer per request");
  }
  const { system, messages } = conversationOf(chat.messages);
  const tools = toolsOf(
    chat,
    messages.flatMap(({ content }) => content),
  );
  const instructions = [...system, ...tools.instructions];
  const options = isRecord(chat.stream_options) ? chat.stream_options : {};
  const body = {
    model,
    max_tokens: positive(chat.max_completion_tokens) ?? positive(chat.max_tokens) ?? maxTokens,
    system: instructions.length > 0 ? instructions : undefined,
    messages,
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
 * Temperatures end at 1. Newer models accept either a temperature or top_p: if both are given,
 * the temperature is sent unless it is 1, which has no effect.
 */
function sampling(chat: Json): Json {
  const temperature = finite(chat.temperature);
  const topP = finite(chat.top_p);
  const usesTopP = topP !== undefined && (temperature === undefined || temperature === 1);
  return {
    temperature: usesTopP || temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: usesTopP ? topP : undefined,
    top_k: finite(chat.top_k),
  };
}

/** Stop sequences without those of white space, which Anthropic refuses. */
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
