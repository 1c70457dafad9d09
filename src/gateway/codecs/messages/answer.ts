import { isRecord, type Json } from "../../wire/json.ts";
import type { Answer, Stop, StopReason, Usage } from "../items/answer.ts";
import { count, dollars, extraFor, extraOf, record, records, str } from "../items/read.ts";
import { readItems, writeItem } from "./messages.ts";

export function parseAnswer(body: Json): Answer {
  const model = str(body.model) ?? "";
  const error = record(body.error);
  return {
    id: str(body.id) ?? "",
    model,
    choices: error
      ? []
      : [{ items: readItems(records(body.content), "assistant", model), stop: readStop(body) }],
    usage: readUsage(body.usage),
    error: error && { message: str(error.message) ?? "", type: str(error.type) },
    extra: extraOf(body, KNOWN, "messages"),
  };
}

const KNOWN: ReadonlySet<string> = new Set([
  ...["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage", "error"],
]);

const REASONS: Readonly<Record<string, StopReason>> = {
  max_tokens: "length",
  stop_sequence: "stop_sequence",
  tool_use: "tool_calls",
  pause_turn: "pause",
  refusal: "content_filter",
  model_context_window_exceeded: "context_length",
};

export function readStop({ stop_reason, stop_sequence }: Json): Stop {
  const reason = REASONS[String(stop_reason)] ?? "end";
  return { reason, sequence: str(stop_sequence) };
}

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  end: "end_turn",
  length: "max_tokens",
  stop_sequence: "stop_sequence",
  tool_calls: "tool_use",
  pause: "pause_turn",
  content_filter: "refusal",
  context_length: "model_context_window_exceeded",
};

/**
 * Writes the stop reason. If the request names the tool to be called, some upstreams report a call as a normal
 * end; clients of Messages run tools only for the reason `tool_use`.
 */
export function writeStop({ reason, sequence }: Stop, hasCalls: boolean): Json {
  const isNormal = reason === "end" || reason === "tool_calls";
  const own = isNormal ? (hasCalls ? "tool_calls" : "end") : reason;
  return { stop_reason: STOP_REASONS[own], stop_sequence: sequence ?? null };
}

/** Reads usage. Anthropic counts cached tokens apart from the other tokens of the prompt. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const cachedTokens = count(value.cache_read_input_tokens);
  const cacheWriteTokens = count(value.cache_creation_input_tokens);
  return {
    promptTokens: count(value.input_tokens) + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(
      cacheWriteTokens,
      count(record(value.cache_creation)?.ephemeral_1h_input_tokens),
    ),
    completionTokens: count(value.output_tokens),
    reasoningTokens: count(record(value.output_tokens_details)?.thinking_tokens),
    cost: dollars(value.cost),
  };
}

export function writeUsage(usage: Usage): Json {
  const { promptTokens, cachedTokens, cacheWriteTokens, cacheWrite1hTokens = 0 } = usage;
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens - cacheWrite1hTokens,
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    ...(usage.cost !== undefined && { cost: usage.cost }),
  };
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** Members of a message before its content. */
export function messageHead({ id, model }: { id: string; model: string }): Json {
  return { id, type: "message", role: "assistant", model };
}

export function writeAnswer(answer: Answer): Json {
  const [choice] = answer.choices;
  const hasCalls = choice?.items.some((item) => item.type === "function_call") ?? false;
  return {
    ...messageHead(answer),
    content: choice?.items.flatMap(writeItem) ?? [],
    ...writeStop(choice?.stop ?? { reason: "end" }, hasCalls),
    usage: writeUsage(answer.usage ?? NO_USAGE),
    ...extraFor(answer.extra, "messages"),
  };
}
