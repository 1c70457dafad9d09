/**
 * A source of errors that many requests share: how the cost of one request depends on it,
 * and its standard deviation.
 */
export interface ErrorSource {
  readonly slope: number;
  readonly sd: number;
}

/**
 * Standard deviation of the total cost of many requests whose errors have common sources. The
 * estimate m_t of a source u improves with time. Errors u - m_s and u - m_t at times s < t have the
 * covariance Var(u - m_t), because the improvement m_t - m_s is independent of what is left. So with
 * slopes d_t, the variance of sum d_t (u - m_t) grows by sd_t^2 (d_t^2 + 2 d_t sum_{s<t} d_s).
 * Different sources are independent.
 */
export class CommonErrors {
  readonly #models = new Map<string, { slopes: number; variance: number }[]>();

  /** Adds a request of a model, with its sources in a fixed order. Returns by how much the total grows. */
  add(model: string, sources: readonly ErrorSource[]): number {
    const known = this.#models.get(model);
    const sums =
      known?.length === sources.length ? known : sources.map(() => ({ slopes: 0, variance: 0 }));
    this.#models.set(model, sums);
    const before = totalOf(sums);
    for (const [i, { slope, sd }] of sources.entries()) {
      const sum = sums[i]!;
      sum.variance += sd * sd * slope * (slope + 2 * sum.slopes);
      sum.slopes += slope;
    }
    return totalOf(sums) - before;
  }
}

function totalOf(sums: readonly { variance: number }[]): number {
  return Math.sqrt(sums.reduce((sum, { variance }) => sum + Math.max(0, variance), 0));
}
