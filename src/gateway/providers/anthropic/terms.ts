import { isRecord, type Json } from "../../wire/json-value.ts";
import type { Usage } from "../upstream/usage.ts";

/** `isAnswer` says that the called tool's input is the answer, so the client sees no call. */
export function finishReason(stopReason: unknown, isAnswer: boolean): string {
  if (stopReason === "tool_use" && isAnswer) return "stop";
  return FINISH_REASONS[String(stopReason)] ?? "stop";
}

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
};

/** Reads Anthropic's usage, in which the tokens of the cache are not part of the input. */
export function messageUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const count = (name: string) => (typeof value[name] === "number" ? Number(value[name]) : 0);
  const cachedTokens = count("cache_read_input_tokens");
  const cacheWriteTokens = count("cache_creation_input_tokens");
  return {
    promptTokens: count("input_tokens") + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    completionTokens: count("output_tokens"),
    reasoningTokens: 0,
  };
}

/** Converts {"type":"error","error":{"type","message"}} to OpenAI's format. Other bodies stay as they are. */
export function errorBody(body: Uint8Array): Uint8Array {
  const error = errorIn(body);
  if (!error) return body;
  const { type, message } = error;
  return Buffer.from(JSON.stringify({ error: { message, type, param: null, code: type } }));
}

function errorIn(body: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString());
    return isRecord(value) && isRecord(value.error) ? value.error : undefined;
  } catch {
    return undefined;
  }
}

/** HTTP status that corresponds to an error inside a stream. */
export function errorStatus(type: unknown): number {
  return ERROR_STATUS[String(type)] ?? 500;
}

const ERROR_STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529,
};
