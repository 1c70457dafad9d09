/**
 * Keeps spending near a budget: lambda, the price of a unit of cost in utility,
 * rises while the moving average of cost is above the budget and falls below it.
 *
 *   ema <- 0.95 ema + 0.05 cost,   lambda <- clip(lambda + 0.05 (ema / budget - 1), 0, 5)
 */
export class Pacer {
  readonly #budget: number;
  #ema: number;
  #lambda: number;

  constructor(budget: number, state: PacerState = { ema: budget, lambda: 0 }) {
    if (!(budget > 0)) {
      throw new RangeError(`budget must be above 0, got ${budget}; help: give a cost per query`);
    }
    this.#budget = budget;
    this.#ema = state.ema;
    this.#lambda = state.lambda;
  }

  get lambda(): number {
    return this.#lambda;
  }

  /** Takes in what one query has cost; a duel costs both answers. */
  spend(cost: number): void {
    this.#ema = 0.95 * this.#ema + 0.05 * cost;
    const step = 0.05 * (this.#ema / this.#budget - 1);
    this.#lambda = Math.min(5, Math.max(0, this.#lambda + step));
  }

  snapshot(): PacerState {
    return { ema: this.#ema, lambda: this.#lambda };
  }
}

export interface PacerState {
  readonly ema: number;
  readonly lambda: number;
}

/** The dearest model's mean cost over categories, 1 where nothing is known of costs. */
export function dearestMean(costs: readonly Float64Array[] | undefined): number {
  if (!costs) return 1;
  const means = costs.map((row) => row.reduce((sum, cost) => sum + cost / row.length, 0));
  const dearest = Math.max(...means);
  return dearest > 0 ? dearest : 1;
}
