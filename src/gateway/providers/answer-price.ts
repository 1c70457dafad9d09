import type { Price } from "./upstream/usage.ts";

/** Tokens that an answer is expected to need. */
export interface ExpectedTokens {
  readonly prompt: number;
  /** Share of the prompt, from its beginning, that the upstream has read recently. */
  readonly share: number;
  readonly output: number;
}

/**
 * Expected price of an answer in US dollars (docs/decisions/0017-savings.md). With the upstream's
 * cache, warm tokens have the cached price and the others the price of writing; without it, and in a
 * prompt that is too short for it, all have the price of the input. `hit` is the probability that the
 * cache works. `gap` is the derivative of the price with respect to `hit`.
 */
export function expectedPrice(
  price: Price,
  { prompt, share, output }: ExpectedTokens,
  { minTokens }: PromptCache,
  hit: number,
): { readonly dollars: number; readonly gap: number; readonly warm: number } {
  const { input, cached_input: cached = input, cache_write: write = input } = price;
  const warm = share * prompt < minTokens ? 0 : share * prompt;
  const written = prompt < minTokens ? 0 : prompt - warm;
  const gap = (warm * (cached - input) + written * (write - input)) / 1e6;
  return { dollars: (prompt * input + output * price.output) / 1e6 + hit * gap, gap, warm };
}

/** The cache of an upstream model: time for which it keeps a prefix, and the shortest prefix that it keeps. */
export interface PromptCache {
  readonly seconds: number;
  readonly minTokens: number;
}

/** Most providers keep prefixes of at least 1,024 tokens for five minutes after their last use. */
export const USUAL_CACHE: PromptCache = { seconds: 300, minTokens: 1024 };
