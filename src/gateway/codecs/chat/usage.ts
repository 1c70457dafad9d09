import { isRecord, type Json } from "../../wire/json.ts";
import type { Stop, StopReason, Usage } from "../items/answer.ts";
import { count, dollars, record } from "../items/read.ts";

/**
 * Reads usage and its variations. If prompt and completion add up to less than the total, the
 * completion lacks the reasoning (Gemini, xAI), which costs as much per token. DeepSeek has its own
 * name for cached tokens.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const promptTokens = count(value.prompt_tokens);
  if (promptTokens !== value.prompt_tokens) return undefined;
  const prompt = record(value.prompt_tokens_details);
  const cached = prompt?.cached_tokens ?? value.prompt_cache_hit_tokens;
  const cachedTokens = Math.min(promptTokens, count(cached));
  return {
    promptTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(promptTokens - cachedTokens, count(prompt?.cache_write_tokens)),
    cacheWrite1hTokens: 0,
    completionTokens: Math.max(
      count(value.completion_tokens),
      count(value.total_tokens) - promptTokens,
    ),
    reasoningTokens: count(record(value.completion_tokens_details)?.reasoning_tokens),
    cost: dollars(value.cost),
  };
}

export function writeUsage(usage: Usage): Json {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens > 0 ? usage.cacheWriteTokens : undefined,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    cost: usage.cost,
  };
}

const REASONS: Readonly<Record<string, StopReason>> = {
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

/** Whether the answer has ended. Some servers write an empty text in the chunks before the end. */
export function isFinishReason(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Reads finish_reason. Reasons of other upstreams count as the normal end. */
export function readStop(reason: unknown): Stop {
  return { reason: REASONS[String(reason)] ?? "end" };
}

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: "stop",
  stop_sequence: "stop",
  pause: "stop",
  length: "length",
  context_length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
};

/** Writes finish_reason. The older form of tools has its own name for calls. */
export function finishReason({ reason }: Stop, legacy: boolean): string {
  return legacy && reason === "tool_calls" ? "function_call" : FINISH_REASONS[reason];
}
