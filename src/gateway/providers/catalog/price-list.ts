import type { PriceCalculation, Provider } from "@pydantic/genai-prices";
import type { Price } from "../upstream/usage.ts";
import { namesOf, SOURCES } from "./sources.ts";

/** Release of genai-prices that Joust is built with, and its day. */
export const BUILT_IN_PRICES = { version: "0.1.8", date: "2026-09-23" };

/** Prices of genai-prices that were downloaded later. */
export interface PriceFile {
  readonly source: string;
  readonly date: string;
  readonly providers: readonly Provider[];
}

/** List prices of models. Special prices of long prompts, batches and regions are not included. */
export class PriceList {
  readonly date: string;
  readonly #find: (model: string, provider: string) => PriceCalculation | null;

  private constructor(
    date: string,
    find: (model: string, provider: string) => PriceCalculation | null,
  ) {
    this.date = date;
    this.#find = find;
  }

  /** The package is loaded when the first price is needed, because it holds all data. */
  static async open(file: PriceFile | undefined): Promise<PriceList> {
    const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
    const providerOf = (id: string) =>
      file
        ? file.providers.find((provider) => provider.id === id)
        : findProvider({ providerId: id });
    return new PriceList(file?.date ?? BUILT_IN_PRICES.date, (model, id) => {
      const provider = providerOf(id);
      return provider ? calcPrice(ONE_TOKEN, model, { provider }) : null;
    });
  }

  /**
   * Price of a model at a known provider, or undefined if it is not listed. For another upstream it is the price of the
   * model's maker or of Groq.
   */
  price(kind: string | undefined, model: string): Price | undefined {
    const source = kind === undefined ? undefined : SOURCES[kind]?.prices;
    // Price lists do not contain local upstreams.
    if (kind !== undefined && source === undefined) return undefined;
    for (const name of namesOf(model)) {
      for (const provider of source === undefined ? PRICED_MAKERS : [source]) {
        const found = this.#find(name, provider);
        if (found) return priceIn(found);
      }
    }
    return undefined;
  }
}

/** Providers of genai-prices that are searched for a model of an unknown upstream, in this order. */
const PRICED_MAKERS = ["openai", "anthropic", "google", "mistral", "deepseek", "x-ai", "groq"];

const ONE_TOKEN = { input_tokens: 1, output_tokens: 1 };

/** US dollars per million tokens. If prices grow with the length of the prompt, the lowest is used. */
function priceIn({ model_price: prices }: PriceCalculation): Price | undefined {
  const read = (name: string): number | undefined => {
    const price = prices[name];
    return typeof price === "object" ? price.base : price;
  };
  const input = read("input_mtok");
  if (input === undefined) return undefined;
  const write = read("cache_write_mtok");
  const longWrite = read("cache_write_1h_mtok");
  return {
    input,
    cached_input: read("cache_read_mtok") ?? input,
    output: read("output_mtok") ?? 0,
    ...(write !== undefined && { cache_write: write }),
    ...(longWrite !== undefined && { cache_write_1h: longWrite }),
  };
}
