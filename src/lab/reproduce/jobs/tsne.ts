import type { Random } from "../../../core/random/random.ts";

/**
 * t-SNE (van der Maaten and Hinton 2008) over all pairs, which takes seconds for the
 * paper's 645 queries.
 *
 *   p_j|i ~ exp(-|x_i - x_j|^2 beta_i), beta_i such that the perplexity is the given one
 *   p_ij = (p_j|i + p_i|j) / 2n,   q_ij ~ 1 / (1 + |y_i - y_j|^2)
 *   dKL/dy_i = 4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2)
 *
 * minimised by gradient descent with momentum and gains, with p exaggerated at first.
 */
export interface TsneOptions {
  readonly dimensions: number;
  readonly perplexity: number;
  readonly iterations: number;
  /** Called after each iteration with the number of iterations so far. */
  readonly onIteration?: ((done: number) => void) | undefined;
}

export interface Tsne {
  /** n rows of `dimensions` numbers. */
  readonly points: Float64Array;
  /** KL(p, q) at the end. */
  readonly divergence: number;
}

const EXAGGERATION = { factor: 12, iterations: 250 };
const MOMENTUM = { early: 0.5, late: 0.8 };

export function tsne(x: readonly Float64Array[], options: TsneOptions, random: Random): Tsne {
  const n = x.length;
  const { dimensions: d, iterations, onIteration } = options;
  const p = affinities(x, Math.min(options.perplexity, (n - 1) / 3));
  const y = Float64Array.from({ length: n * d }, () => 1e-2 * random.normal());
  const speed = new Float64Array(n * d);
  const gains = new Float64Array(n * d).fill(1);
  const rate = Math.max(50, n / EXAGGERATION.factor / 4);
  let divergence = 0;
  for (let t = 0; t < iterations; t++) {
    const early = t < Math.min(EXAGGERATION.iterations, iterations / 2);
    const step = gradient(p, y, d, early ? EXAGGERATION.factor : 1);
    divergence = step.divergence;
    const momentum = early ? MOMENTUM.early : MOMENTUM.late;
    for (let i = 0; i < n * d; i++) {
      const g = step.gradient[i]!;
      const along = Math.sign(g) !== Math.sign(speed[i]!); // still downhill
      gains[i] = Math.max(0.01, along ? gains[i]! + 0.2 : gains[i]! * 0.8);
      speed[i] = momentum * speed[i]! - rate * gains[i]! * g;
      y[i]! += speed[i]!;
    }
    centre(y, d);
    onIteration?.(t + 1);
  }
  return { points: y, divergence };
}

/** p_ij, n x n. The beta of each row is found by bisection. */
export function affinities(x: readonly Float64Array[], perplexity: number): Float64Array {
  const n = x.length;
  const distances = squaredDistances(x);
  const target = Math.log(perplexity);
  const p = new Float64Array(n * n);
  const row = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let [low, high, beta] = [0, Infinity, 1];
    for (let tries = 0; tries < 60; tries++) {
      const entropy = fillRow(row, distances, i, beta);
      if (Math.abs(entropy - target) < 1e-7) break;
      if (entropy > target) low = beta;
      else high = beta;
      beta = high === Infinity ? 2 * beta : (low + high) / 2;
    }
    for (let j = 0; j < n; j++) {
      p[i * n + j]! += row[j]! / (2 * n);
      p[j * n + i]! += row[j]! / (2 * n);
    }
  }
  return p;
}

/** Writes p_j|i into `row` and returns its entropy. */
function fillRow(row: Float64Array, distances: Float64Array, i: number, beta: number): number {
  const n = row.length;
  let nearest = Infinity;
  for (let j = 0; j < n; j++) if (j !== i) nearest = Math.min(nearest, distances[i * n + j]!);
  let sum = 0;
  let weighted = 0;
  for (let j = 0; j < n; j++) {
    const distance = distances[i * n + j]! - nearest;
    const value = j === i ? 0 : Math.exp(-beta * distance);
    row[j] = value;
    sum += value;
    weighted += beta * distance * value;
  }
  for (let j = 0; j < n; j++) row[j]! /= sum;
  return Math.log(sum) + weighted / sum;
}

function squaredDistances(x: readonly Float64Array[]): Float64Array {
  const n = x.length;
  const out = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      let sum = 0;
      for (let k = 0; k < x[i]!.length; k++) sum += (x[i]![k]! - x[j]![k]!) ** 2;
      out[i * n + j] = sum;
      out[j * n + i] = sum;
    }
  }
  return out;
}

/** dKL/dy with exaggerated p, and KL without exaggeration. */
export function gradient(
  p: Float64Array,
  y: Float64Array,
  d: number,
  exaggeration: number,
): { gradient: Float64Array; divergence: number } {
  const n = y.length / d;
  const inverse = new Float64Array(n * n); // 1 / (1 + |y_i - y_j|^2)
  let total = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      let sum = 1;
      for (let k = 0; k < d; k++) sum += (y[i * d + k]! - y[j * d + k]!) ** 2;
      inverse[i * n + j] = 1 / sum;
      total += 2 / sum;
    }
  }
  const out = new Float64Array(n * d);
  let divergence = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      const pij = p[i * n + j]!;
      const q = inverse[i * n + j]! / total;
      if (pij > 0) divergence += 2 * pij * Math.log(pij / q);
      const pull = 4 * (exaggeration * pij - q) * inverse[i * n + j]!;
      for (let k = 0; k < d; k++) {
        const force = pull * (y[i * d + k]! - y[j * d + k]!);
        out[i * d + k]! += force;
        out[j * d + k]! -= force;
      }
    }
  }
  return { gradient: out, divergence };
}

function centre(y: Float64Array, d: number): void {
  const n = y.length / d;
  for (let k = 0; k < d; k++) {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += y[i * d + k]! / n;
    for (let i = 0; i < n; i++) y[i * d + k]! -= mean;
  }
}
