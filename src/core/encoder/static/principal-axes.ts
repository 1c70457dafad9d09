import { symmetricEigen } from "../../linalg/eigen.ts";
import { dotAt } from "../../linalg/linalg.ts";

/** Row vectors with weights. */
export interface Weighted {
  /** n x d matrix. */
  readonly vectors: Float64Array;
  readonly d: number;
  readonly weights: Float64Array;
}

export interface Axes {
  readonly mean: Float64Array;
  /** One unit vector per row, in the order of falling variance. */
  readonly axes: Float64Array;
  /** Variance along each axis. */
  readonly variances: Float64Array;
}

/** Computes the principal axes of the weighted rows. */
export function principalAxes(rows: Weighted): Axes {
  const mean = weightedMean(rows);
  const { values, vectors } = symmetricEigen(covariance(rows, mean), rows.d);
  return { mean, axes: vectors, variances: values };
}

/**
 * Returns the components of each row along the first k axes. `flatten` evens out
 * the variances: axis i is divided by variance^(flatten / 8), so that 0 changes
 * nothing and 4 makes all variances 1 (whitening). The exponent is in eighths,
 * because square roots give the same bits on every machine and powers do not.
 */
export function project(
  { vectors, d }: Weighted,
  { mean, axes, variances }: Axes,
  k: number,
  flatten: number,
): Float64Array {
  const scaled = axes.slice(0, k * d);
  for (let i = 0; i < k; i++) {
    const root = Math.sqrt(Math.sqrt(Math.sqrt(variances[i]!)));
    for (let power = 0; power < flatten; power++) {
      for (let j = 0; j < d; j++) scaled[i * d + j]! /= root;
    }
  }
  const n = vectors.length / d;
  const out = new Float64Array(n * k);
  const centred = new Float64Array(d);
  for (let row = 0; row < n; row++) {
    for (let j = 0; j < d; j++) centred[j] = vectors[row * d + j]! - mean[j]!;
    for (let i = 0; i < k; i++) out[row * k + i] = dotAt(centred, 0, scaled, i * d, d);
  }
  return out;
}

function weightedMean({ vectors, d, weights }: Weighted): Float64Array {
  const mean = new Float64Array(d);
  let total = 0;
  for (let row = 0; row < weights.length; row++) {
    total += weights[row]!;
    for (let j = 0; j < d; j++) mean[j]! += weights[row]! * vectors[row * d + j]!;
  }
  return mean.map((sum) => sum / total);
}

/** Adds four rows at a time, so that the matrix is read and written a quarter as often. */
function covariance({ vectors, d, weights }: Weighted, mean: Float64Array): Float64Array {
  const out = new Float64Array(d * d);
  const four = Array.from({ length: 4 }, () => new Float64Array(d));
  let total = 0;
  for (let first = 0; first < weights.length; first += 4) {
    for (const [k, x] of four.entries()) {
      const weight = weights[first + k] ?? 0;
      const root = Math.sqrt(weight);
      total += weight;
      const start = (first + k) * d;
      if (weight === 0) x.fill(0);
      else for (let j = 0; j < d; j++) x[j] = root * (vectors[start + j]! - mean[j]!);
    }
    const [p, q, r, s] = four as [Float64Array, Float64Array, Float64Array, Float64Array];
    for (let i = 0; i < d; i++) {
      const [pi, qi, ri, si] = [p[i]!, q[i]!, r[i]!, s[i]!];
      for (let j = 0, at = i * d; j <= i; j++) {
        out[at++]! += pi * p[j]! + qi * q[j]! + (ri * r[j]! + si * s[j]!);
      }
    }
  }
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) out[i * d + j] = out[j * d + i] = out[i * d + j]! / total;
  }
  return out;
}
