/**
 * Sources of errors that many requests share: how the cost of one request depends on each, and
 * their standard deviations.
 */
export interface ErrorSources {
  readonly slopes: Float64Array;
  readonly sds: Float64Array;
}

/**
 * Standard deviation of the total cost of many requests whose errors have common sources. The
 * estimate m_t of a source u improves with time. Errors u - m_s and u - m_t at times s < t have the
 * covariance Var(u - m_t), because the improvement m_t - m_s is independent of what is left. So with
 * slopes d_t, the variance of sum d_t (u - m_t) grows by sd_t^2 (d_t^2 + 2 d_t sum_{s<t} d_s).
 * Different sources are independent.
 */
export class CommonErrors {
  readonly #models = new Map<string, { slopes: Float64Array; variances: Float64Array }>();

  /** Adds a request of a model, with its sources in a fixed order. Returns by how much the total grows. */
  add(model: string, { slopes, sds }: ErrorSources): number {
    const size = slopes.length;
    let sums = this.#models.get(model);
    if (sums?.slopes.length !== size) {
      sums = { slopes: new Float64Array(size), variances: new Float64Array(size) };
      this.#models.set(model, sums);
    }
    const before = totalOf(sums.variances);
    for (let i = 0; i < size; i++) {
      const slope = slopes[i]!;
      const sd = sds[i]!;
      sums.variances[i]! += sd * sd * slope * (slope + 2 * sums.slopes[i]!);
      sums.slopes[i]! += slope;
    }
    return totalOf(sums.variances) - before;
  }
}

function totalOf(variances: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < variances.length; i++) sum += Math.max(0, variances[i]!);
  return Math.sqrt(sum);
}
