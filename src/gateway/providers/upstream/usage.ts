import type { ListedModel } from "../../../api/model.ts";
import type { Usage } from "../../codecs/items/answer.ts";
import { NO_USAGE } from "../../codecs/messages/answer.ts";

export { NO_USAGE, type Usage };

/**
 * Usage of an answer that has ended. If it broke off or the upstream reports no usage, the prompt
 * has its estimated tokens, and the answer has those of its text, but at least one per event.
 */
export function usageOf(
  end: {
    readonly usage: Usage | undefined;
    readonly events: number;
    readonly tokens?: number | undefined;
    readonly error: unknown;
  },
  promptTokens: number,
): Usage {
  if (end.usage && end.error === undefined) return end.usage;
  const known = end.usage ?? { ...NO_USAGE, promptTokens };
  return {
    ...known,
    completionTokens: Math.max(known.completionTokens, end.events, end.tokens ?? 0),
  };
}

/** US dollars per million tokens. Tokens of the cache have the price of the input by default. */
export type Price = NonNullable<ListedModel["price"]>;

/**
 * Cost in US dollars, or undefined if usage or price is unknown. The cost that the upstream
 * reports takes precedence.
 */
export function costOf(usage: Usage | undefined, price: Price | undefined): number | undefined {
  if (!usage) return undefined;
  if (usage.cost !== undefined) return usage.cost;
  if (!price) return undefined;
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = usage;
  const { cacheWrite1hTokens: hourly = 0 } = usage;
  const write = price.cache_write ?? price.input;
  const dollars =
    (promptTokens - cachedTokens - cacheWriteTokens) * price.input +
    cachedTokens * (price.cached_input ?? price.input) +
    (cacheWriteTokens - hourly) * write +
    hourly * (price.cache_write_1h ?? write) +
    completionTokens * price.output;
  return dollars / 1e6;
}
