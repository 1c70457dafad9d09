import type { Extra, Item } from "./item.ts";

export type StopReason =
  | "end"
  | "length"
  | "tool_calls"
  | "content_filter"
  | "stop_sequence"
  /** A hosted tool takes long; the client continues with the same messages. */
  | "pause"
  | "context_length";

export interface Stop {
  readonly reason: StopReason;
  /** The stop sequence that ended the answer. */
  readonly sequence?: string | undefined;
}

/** Tokens of an answer, as the upstream counted them. */
export interface Usage {
  /** Tokens of the prompt, those read from and written to the cache included. */
  readonly promptTokens: number;
  /** Tokens of the prompt that were read from the upstream's cache. */
  readonly cachedTokens: number;
  /** Tokens of the prompt that were written to the cache, which Anthropic charges for. */
  readonly cacheWriteTokens: number;
  /** Part of the cache writes that lives for an hour and costs more. */
  readonly cacheWrite1hTokens?: number | undefined;
  /** Tokens of the answer, reasoning included. */
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  /** Cost in US dollars, if the upstream reports it (OpenRouter). */
  readonly cost?: number | undefined;
}

/**
 * Combines two usages of a stream: the output tokens are those of the later one, the input tokens and the
 * cost those of the latest one that has any. Some upstreams count the writes of an hour only in the first
 * event.
 */
export function usageAfter(before: Usage | undefined, next: Usage | undefined): Usage | undefined {
  if (!next || !before) return next ?? before;
  const { completionTokens, reasoningTokens, cost = before.cost } = next;
  const hourly = Math.max(before.cacheWrite1hTokens ?? 0, next.cacheWrite1hTokens ?? 0);
  const input = next.promptTokens > 0 ? { ...next, cacheWrite1hTokens: hourly } : before;
  return { ...input, completionTokens, reasoningTokens, cost };
}

/** An error that the upstream reports in the place of an answer or in the middle of a stream. */
export interface AnswerError {
  readonly message: string;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** Member of the request that is at fault. */
  readonly param?: string | undefined;
  /** Advice to the client. */
  readonly hint?: string | undefined;
}

export interface Choice {
  readonly items: readonly Item[];
  readonly stop: Stop;
}

/** A complete answer in the internal form. */
export interface Answer {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created?: number | undefined;
  /** Time at which the answer was complete, in seconds since 1970, if the gateway has measured it. */
  readonly completed?: number | undefined;
  /** One choice, or several if a client of chat completions wants them. */
  readonly choices: readonly Choice[];
  readonly usage?: Usage | undefined;
  readonly error?: AnswerError | undefined;
  readonly extra?: Extra | undefined;
}

/** Stop reason that the items imply, for dialects that do not name calls as a reason. */
export function impliedStop(items: readonly Item[]): Stop {
  return { reason: items.some((item) => item.type === "function_call") ? "tool_calls" : "end" };
}
