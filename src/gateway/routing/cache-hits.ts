/** Estimates for each model whether its upstream caches the prefixes that it has read. */
export class CacheHits {
  readonly #models = new Map<string, { hits: number; answers: number }>();
  readonly #all = { hits: 0, answers: 0 };

  /** Learns from an answer whose prompt began with a warm prefix: the share that came from the cache. */
  learn(model: string, share: number): void {
    const own = this.#models.get(model) ?? { hits: 0, answers: 0 };
    this.#models.set(model, own);
    for (const sums of [own, this.#all]) {
      sums.hits = KEPT * sums.hits + share;
      sums.answers = KEPT * sums.answers + 1;
    }
  }

  /**
   * Mean and standard deviation of the share that comes from the cache. The mean of the other
   * models of the pool counts as two answers, because the same clients use them.
   */
  of(model: string): { readonly mean: number; readonly sd: number } {
    const answers = this.#models.get(model)?.answers ?? 0;
    const mean = this.meanOf(model);
    // The variance of a beta distribution, and the difference between models while few answers are known.
    const variance = (mean * (1 - mean)) / (3 + answers) + (DIFFERENCE / (1 + answers)) ** 2;
    return { mean, sd: Math.sqrt(variance) };
  }

  /** The mean alone. */
  meanOf(model: string): number {
    const { hits, answers } = this.#models.get(model) ?? NONE;
    const pool = (0.5 + this.#all.hits) / (1 + this.#all.answers);
    return (2 * pool + hits) / (2 + answers);
  }
}

const NONE = { hits: 0, answers: 0 };
const KEPT = 0.99;
/** Standard deviation between the models of a pool. */
const DIFFERENCE = 0.2;
