import { type Interval, mean, tQuantile } from "../../core/statistics.ts";

/**
 * One estimate over several cells: the mean of the cells' means, all cells counting alike.
 *
 * Run r of all cells has the same offline queries, stream and voters, so cells are not
 * independent, but runs are. The estimate is a sum over runs of
 *
 *   u_r = sum over the cells c that have run r of d_cr / (C n_c),
 *
 * with C cells, n_c runs of cell c and d_cr the difference in run r. Runs that have the same
 * cells form a stratum S, in which the u_r are independent and equally distributed, so
 *
 *   Var = sum over strata of |S| s_S^2,   s_S^2 the sample variance of u_r in S,
 *
 * with Satterthwaite's degrees of freedom, rounded down. If all cells have the same runs, this
 * is Student's interval of the runs' means over cells. A stratum of a single run has no variance,
 * and then the estimate has no interval.
 */
export function pooledInterval(cells: readonly (readonly number[])[]): Interval {
  const lengths = [...new Set(cells.map((cell) => cell.length))].sort((a, b) => a - b);
  const strata = lengths.map((to, i) => {
    const from = lengths[i - 1] ?? 0;
    const own = cells.filter((cell) => cell.length >= to);
    return Array.from({ length: to - from }, (_, r) =>
      own.reduce((sum, cell) => sum + cell[from + r]! / (cells.length * cell.length), 0),
    );
  });
  const center = mean(cells.map(mean));
  const variances = strata.map((u) => u.length * sampleVariance(u));
  const variance = sum(variances);
  const freedom = variance ** 2 / sum(variances.map((v, i) => v ** 2 / (strata[i]!.length - 1)));
  // Rounding errors must not take a degree from equal variances.
  const half = tQuantile(0.975, Math.floor(freedom + 1e-9) || 1) * Math.sqrt(variance);
  return { mean: center, lo: center - half, hi: center + half };
}

function sampleVariance(values: readonly number[]): number {
  const center = mean(values);
  return sum(values.map((value) => (value - center) ** 2)) / (values.length - 1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
