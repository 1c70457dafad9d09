import { CategoryMeans } from "./category-means.ts";

/**
 * Ratio of the cost that a provider reports (OpenRouter's `usage.cost`) to the list price of the same
 * tokens, by provider and category, times a factor by model. The spending counts reported costs, so the
 * comparison with another model of the provider must use them too: providers have fees, discounts and prices
 * of their own. Reported costs say nothing about models of other providers, whose cost is
 * exactly the list price.
 */
export class Charges {
  readonly #providers = new Map<string, ProviderCharges>();

  /** Learns from an answer whose cost the provider has reported. */
  learn(provider: string, model: string, w: Float64Array, cost: number, listed: number): void {
    if (listed <= 0) return;
    const known = this.#providers.get(provider) ?? newCharges();
    this.#providers.set(provider, known);
    const expected = listed * ratioOf(known, model, w);
    // The first answers in a category have nothing to be compared with.
    if (known.ratios.answersLike(ALL, w) >= FIRST_ANSWERS && expected > 0) {
      // In logarithms, because the first expectations may be wrong by a large factor.
      known.squares += Math.log(Math.max(cost / expected, SMALLEST_RATIO)) ** 2;
      known.compared++;
    }
    known.ratios.learn(ALL, w, cost, listed);
    const ofAll = listed * known.ratios.of(ALL, w);
    if (ofAll > 0) known.factors.learn(model, w, cost, ofAll);
  }

  /** Expected ratio, and its relative standard deviation. */
  of(
    provider: string,
    model: string,
    w: Float64Array,
  ): { readonly mean: number; readonly doubt: number } {
    const known = this.#providers.get(provider);
    if (!known) return LIST_PRICE;
    const { factors, compared, squares } = known;
    const variation = (squares + PRIOR_ANSWERS * USUAL_VARIATION) / (compared + PRIOR_ANSWERS);
    // Answers to other categories show the factor of the model in general.
    const prior = variation + 1 / (1 / BETWEEN_MODELS ** 2 + factors.answersOf(model) / variation);
    const precision = 1 / prior + factors.answersLike(model, w) / variation;
    return { mean: ratioOf(known, model, w), doubt: 1 / Math.sqrt(precision) };
  }
}

/** The charge of a provider that has reported no cost. */
const LIST_PRICE = { mean: 1, doubt: 0 };

interface ProviderCharges {
  /** Reported cost per dollar at the list price, of all models together. */
  readonly ratios: CategoryMeans;
  /** Reported cost of a model per dollar that is expected of all models. */
  readonly factors: CategoryMeans;
  /** Number of answers whose cost was compared with its expectation, and the sum of the squared logarithms of the ratio. */
  compared: number;
  squares: number;
}

function newCharges(): ProviderCharges {
  return { ratios: new CategoryMeans(1), factors: new CategoryMeans(1), compared: 0, squares: 0 };
}

function ratioOf({ ratios, factors }: ProviderCharges, model: string, w: Float64Array): number {
  return ratios.of(ALL, w) * factors.of(model, w);
}

/** Name under which all models of a provider are learned together. */
const ALL = "";
const FIRST_ANSWERS = 2;
const SMALLEST_RATIO = 0.05;
const PRIOR_ANSWERS = 4;
/** Variance of the logarithm of a reported cost relative to its expectation, before there are answers. */
const USUAL_VARIATION = 0.01;
/** Standard deviation of the logarithm of the factor between the models of a provider. */
const BETWEEN_MODELS = 0.2;
