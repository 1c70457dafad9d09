/** Means of a few runs with Student's t intervals, and paired comparisons of two policies. */
import { invalidValue } from "./errors/joust-error.ts";

/** A mean and its 95% interval. The bounds of a single value are NaN. */
export interface Interval {
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** mean +- t_{0.975, n-1} s / sqrt(n). */
export function meanInterval(values: readonly number[]): Interval {
  const center = mean(values);
  if (values.length < 2) return { mean: center, lo: Number.NaN, hi: Number.NaN };
  const half = tQuantile(0.975, values.length - 1) * standardError(values, center);
  return { mean: center, lo: center - half, hi: center + half };
}

/** The p-th percentile, p in 0..100, interpolated between order statistics (Hyndman and Fan's type 7). */
export function percentile(values: ArrayLike<number>, p: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const at = (Math.min(100, Math.max(0, p)) / 100) * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (at - below) * (high - low);
}

export interface PairedDifference extends Interval {
  /** Two-sided p-value of the paired t-test; NaN below two runs. */
  readonly p: number;
  /** Runs in which the first has the smaller regret; a tie counts half. */
  readonly won: number;
}

/**
 * The mean of a_i - b_i over runs i. Run i of every policy has the same queries and voters, so
 * differences between runs cancel, and the interval is far narrower than that of either mean.
 */
export function pairedDifference(a: readonly number[], b: readonly number[]): PairedDifference {
  if (a.length !== b.length) {
    throw invalidValue(
      `cannot pair ${a.length} runs with ${b.length}`,
      "give both policies the same runs",
    );
  }
  const differences = a.map((value, i) => value - b[i]!);
  const won = differences.reduce((sum, d) => sum + (d < 0 ? 1 : d === 0 ? 0.5 : 0), 0);
  const interval = meanInterval(differences);
  return { ...interval, p: pValue(differences, interval.mean), won };
}

export function excludesZero(interval: Interval): boolean {
  return interval.lo > 0 || interval.hi < 0;
}

/**
 * Holm's step-down correction (1979): the i-th smallest of m p-values times
 * m - i + 1, made monotone. If all hypotheses below 0.05 are rejected, the
 * probability that any rejection is wrong is at most 0.05.
 */
export function holm(pValues: readonly number[]): number[] {
  const adjusted = pValues.map(() => Number.NaN);
  const order = pValues.map((_, i) => i).filter((i) => Number.isFinite(pValues[i]!));
  order.sort((i, j) => pValues[i]! - pValues[j]!);
  let largest = 0;
  order.forEach((i, rank) => {
    largest = Math.max(largest, Math.min(1, pValues[i]! * (order.length - rank)));
    adjusted[i] = largest;
  });
  return adjusted;
}

/** The t with P(T <= t) = p, by bisection in theta = atan(t / sqrt(df)), which is bounded. */
export function tQuantile(p: number, df: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`p must lie between 0 and 1, got ${p}`);
  if (!Number.isInteger(df) || df < 1) throw new RangeError(`df must be 1, 2, ..., got ${df}`);
  if (p < 0.5) return -tQuantile(1 - p, df);
  let low = 0;
  let high = Math.PI / 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return Math.sqrt(df) * Math.tan(low);
    if (central(middle, df) < 2 * p - 1) low = middle;
    else high = middle;
  }
}

/**
 * P(|T| <= t) for theta = atan(t / sqrt(df)), a finite sum for whole df
 * (Abramowitz and Stegun 26.7.3 and 26.7.4), c = cos theta:
 *   df odd:  2/pi (theta + sin theta (c + 2/3 c^3 + ... + (2 4 ..)/(3 5 ..) c^(df-2)))
 *   df even: sin theta (1 + 1/2 c^2 + ... + (1 3 ..)/(2 4 ..) c^(df-2))
 */
function central(theta: number, df: number): number {
  const c = Math.cos(theta);
  const odd = df % 2 === 1;
  let term = odd ? c : 1;
  let sum = 0;
  for (let power = odd ? 1 : 0; power <= df - 2 && term > sum * 1e-18; power += 2) {
    sum += term;
    term *= (c * c * (power + 1)) / (power + 2);
  }
  return odd ? (2 / Math.PI) * (theta + Math.sin(theta) * sum) : Math.sin(theta) * sum;
}

/**
 * P(|T| > t). Above 1 it is a series of positive terms, since 1 - central would lose
 * precision: with u = df / (df + t^2) it is the incomplete beta
 *   I_u(df/2, 1/2) = g u^(df/2) sqrt(1-u) sum_n u^n (df+1)(df+3)../(df+2)(df+4)..
 * (Abramowitz and Stegun 26.5.4), g = Gamma((df+1)/2) / (Gamma(df/2 + 1) sqrt(pi)).
 */
export function tTail(t: number, df: number): number {
  if (t <= 1) return 1 - central(Math.atan(t / Math.sqrt(df)), df);
  const u = df / (df + t * t);
  let g = df % 2 === 1 ? 2 / Math.PI : 1 / 2;
  for (let k = df % 2 === 1 ? 1 : 2; k < df; k += 2) g *= (k + 1) / (k + 2);
  let sum = 0;
  for (let n = 0, term = 1; term > sum * 1e-17; n++) {
    sum += term;
    term *= (u * (df + 1 + 2 * n)) / (df + 2 + 2 * n);
  }
  return g * u ** (df / 2) * Math.sqrt((t * t) / (df + t * t)) * sum;
}

function pValue(differences: readonly number[], center: number): number {
  const n = differences.length;
  if (n < 2) return Number.NaN;
  if (center === 0) return 1;
  const error = standardError(differences, center);
  return error === 0 ? 0 : tTail(Math.abs(center) / error, n - 1);
}

function standardError(values: readonly number[], center: number): number {
  let squares = 0;
  for (const value of values) squares += (value - center) ** 2;
  return Math.sqrt(squares / (values.length - 1) / values.length);
}
