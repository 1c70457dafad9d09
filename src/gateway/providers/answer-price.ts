import type { Price } from "./upstream/usage.ts";

/** Tokens that an answer is expected to need. */
export interface ExpectedTokens {
  readonly prompt: number;
  /** Tokens at the beginning of the prompt that the upstream has read recently. */
  readonly warm: number;
  readonly output: number;
}

/**
 * Expected price of an answer in US dollars (docs/decisions/0017-savings.md). With the upstream's
 * cache, warm tokens have the cached price and the others the price of writing; without it, all
 * have the price of the input. `hit` is the probability that the cache works. `gap` is the
 * derivative of the price with respect to `hit`.
 */
export function expectedPrice(
  price: Price,
  { prompt, warm, output }: ExpectedTokens,
  hit: number,
): { readonly dollars: number; readonly gap: number } {
  const { input, cached_input: cached = input, cache_write: write = input } = price;
  const cold = prompt * input;
  const gap = (warm * cached + (prompt - warm) * write - cold) / 1e6;
  return { dollars: (cold + output * price.output) / 1e6 + hit * gap, gap };
}

/** The cache of an upstream model: time for which it keeps a prefix, and the shortest prefix that it keeps. */
export interface PromptCache {
  readonly seconds: number;
  readonly minTokens: number;
}

/** Most providers keep prefixes of at least 1,024 tokens for five minutes after their last use. */
export const USUAL_CACHE: PromptCache = { seconds: 300, minTokens: 1024 };
