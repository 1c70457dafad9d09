import { invalidValue } from "../errors/joust-error.ts";

/**
 * Keeps spending within a budget. lambda, the price of a unit of cost in utility,
 * is the multiplier of the constraint E[cost] <= budget, found by gradient ascent
 * on what was spent above it, g = cost / budget - 1. Costs differ a hundredfold
 * between queries, and nobody knows how large lambda has to be; so the step is
 * AdaGrad's (Duchi et al. 2011), with squares forgotten slowly, as prices change:
 *
 *   squares <- 0.999 squares + g^2,   price <- clip(price + FIRST g / sqrt(squares), -SAVED, 5)
 *
 * and lambda = max(0, price). A price below 0 is something saved, which pays for
 * a dear query before lambda rises. A fixed step on a moving average of costs
 * used a fifth of the same budgets, at one and a half times the regret.
 */
export class Pacer {
  readonly #budget: number;
  #price: number;
  #squares: number;

  constructor(budget: number, state: PacerState = { price: 0, squares: 0 }) {
    if (!(budget > 0)) {
      throw invalidValue(`budget must be above 0, got ${budget}`, "give a cost per query");
    }
    this.#budget = budget;
    this.#price = state.price;
    this.#squares = state.squares;
  }

  get lambda(): number {
    return Math.max(0, this.#price);
  }

  /** Takes in what one query has cost; a duel costs both answers. */
  spend(cost: number): void {
    const g = cost / this.#budget - 1;
    if (g === 0) return;
    this.#squares = 0.999 * this.#squares + g * g;
    const price = this.#price + (FIRST * g) / Math.sqrt(this.#squares);
    this.#price = Math.min(5, Math.max(-SAVED, price));
  }

  snapshot(): PacerState {
    return { price: this.#price, squares: this.#squares };
  }
}

/** In utility: the first step, and the most that can be saved. */
const FIRST = 0.1;
const SAVED = 0.3;

export interface PacerState {
  readonly price: number;
  readonly squares: number;
}

/** The dearest model's mean cost over categories, 1 where nothing is known of costs. */
export function highestMeanCost(costs: readonly Float64Array[] | undefined): number {
  if (!costs) return 1;
  const means = costs.map((row) => row.reduce((sum, cost) => sum + cost / row.length, 0));
  const dearest = Math.max(...means);
  return dearest > 0 ? dearest : 1;
}
