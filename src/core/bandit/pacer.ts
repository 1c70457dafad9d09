import { invalidValue } from "../errors/joust-error.ts";

/**
 * Keeps spending within a budget. lambda, the price of a unit of cost in utility, is
 * the multiplier of the constraint E[cost] <= budget. It is found by gradient ascent
 * on the relative overspending, g = cost / budget - 1. Costs differ by a factor of a
 * hundred between queries, and the size of lambda is not known in advance, so the step
 * is that of AdaGrad (Duchi et al. 2011), with slowly forgotten squares because prices
 * change:
 *
 *   squares <- 0.999 squares + g^2
 *   price   <- clip(price + FIRST_STEP g / sqrt(squares), -MAX_SAVED, 5)
 *
 * and lambda = max(0, price). A price below 0 is a saving, which pays for an expensive
 * query before lambda rises. A fixed step on a moving average of costs used a fifth of
 * the same budgets, at one and a half times the regret.
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

  /** Records the cost of one query; a duel costs both answers. */
  spend(cost: number): void {
    const g = cost / this.#budget - 1;
    if (g === 0) return;
    this.#squares = 0.999 * this.#squares + g * g;
    const price = this.#price + (FIRST_STEP * g) / Math.sqrt(this.#squares);
    this.#price = Math.min(5, Math.max(-MAX_SAVED, price));
  }

  snapshot(): PacerState {
    return { price: this.#price, squares: this.#squares };
  }
}

/** The first step and the largest saving, in utility. */
const FIRST_STEP = 0.1;
const MAX_SAVED = 0.3;

export interface PacerState {
  readonly price: number;
  readonly squares: number;
}

/** Returns the mean cost over the categories of the most expensive model, or 1 if no cost is known. */
export function highestMeanCost(costs: readonly Float64Array[] | undefined): number {
  if (!costs) return 1;
  const means = costs.map((row) => row.reduce((sum, cost) => sum + cost / row.length, 0));
  const highest = Math.max(...means);
  return highest > 0 ? highest : 1;
}
