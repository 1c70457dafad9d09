import { isRecord } from "../../wire/json-value.ts";

/** Tokens of one answer, as the upstream counted them. */
export interface Usage {
  /** All that was read, the cached ones included. */
  readonly promptTokens: number;
  /** Of these, read from the upstream's cache. */
  readonly cachedTokens: number;
  /** Of these, written into it, where that has a price (Anthropic). */
  readonly cacheWriteTokens: number;
  /** All that was written, reasoning included. */
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  /** US dollars, where the upstream says so itself (OpenRouter). */
  readonly cost?: number | undefined;
}

/**
 * OpenAI's `usage` and its dialects. Where prompt and completion fall short of
 * the total, reasoning was left out of the completion (Gemini, xAI) though it
 * is billed as such. DeepSeek has its own name for cached tokens.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined;
  const promptTokens = count(value.prompt_tokens);
  if (promptTokens === undefined) return undefined;
  const said = count(value.completion_tokens) ?? 0;
  const total = count(value.total_tokens) ?? 0;
  const prompt = isRecord(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const completion = isRecord(value.completion_tokens_details)
    ? value.completion_tokens_details
    : {};
  return {
    promptTokens,
    cachedTokens: Math.min(
      promptTokens,
      count(prompt.cached_tokens) ?? count(value.prompt_cache_hit_tokens) ?? 0,
    ),
    cacheWriteTokens: 0,
    completionTokens: Math.max(said, total - promptTokens),
    reasoningTokens: count(completion.reasoning_tokens) ?? 0,
    cost: typeof value.cost === "number" && value.cost >= 0 ? value.cost : undefined,
  };
}

/** The same in OpenAI's terms. */
export function writeUsage(usage: Usage): Record<string, unknown> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

/**
 * What an answer took, also one that broke off or whose host does not count:
 * then at least a token for each event that came, and the prompt as estimated.
 */
export function usageOf(
  end: { readonly usage: Usage | undefined; readonly events: number; readonly error: unknown },
  promptTokens: number,
): Usage {
  if (end.usage && end.error === undefined) return end.usage;
  const known = end.usage ?? { ...NOTHING, promptTokens };
  return { ...known, completionTokens: Math.max(known.completionTokens, end.events) };
}

const NOTHING: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** US dollars for a million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** The input's price where it is not said. */
  readonly cachedInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/**
 * US dollars; undefined where usage or price is unknown, never 0 for want of
 * knowledge. What the upstream itself says it charged comes first.
 */
export function costOf(usage: Usage | undefined, price: Price | undefined): number | undefined {
  if (!usage) return undefined;
  if (usage.cost !== undefined) return usage.cost;
  if (!price) return undefined;
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = usage;
  const dollars =
    (promptTokens - cachedTokens - cacheWriteTokens) * price.input +
    cachedTokens * (price.cachedInput ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    completionTokens * price.output;
  return dollars / 1e6;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
