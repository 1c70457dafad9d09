import { cholesky, dotAt, inverse, quadraticForm } from "../linalg/linalg.ts";
import {
  BIAS,
  type BlockPosterior,
  type Hypothesis,
  POSITION,
  priorVariances,
  SHARED,
  SLOPE,
  TOLD,
} from "./block-posterior.ts";
import { sigmoid, softplus } from "./btl.ts";
import type { VoteGroup } from "./vote-groups.ts";

/** The votes that a posterior is fitted to. */
export interface FitInput {
  /** Models of the pool and former ones. */
  readonly models: number;
  readonly categories: number;
  readonly groups: readonly VoteGroup[];
  /** Told scores at a membership, relative to the mean of the pool. */
  readonly told: (w: Float64Array) => Float64Array;
  /** r: share of the votes that have a winner. */
  readonly decided: number;
  /** Whether a preference of voters for the answer shown first is estimated. */
  readonly position: boolean;
}

/** A hypothesis and the covariance of each theta_k before any vote. */
type Prior = Pick<BlockPosterior, "hypothesis" | "priorCovariance">;

/**
 * The posterior of all coefficients under one hypothesis by Laplace's approximation: the mode
 * given all votes at once, and the curvature there. The coefficients are theta_1 to theta_K, with
 * one number per category each, and the shared ones. Unlike the block posteriors, which learn vote
 * by vote and choose the models, it has the covariances between models. They matter because pairs
 * are chosen adaptively (docs/decisions/0024-intervals.md).
 */
export interface LaplaceFit {
  readonly hypothesis: Hypothesis;
  readonly mode: Float64Array;
  /** L L^T is the precision. */
  readonly L: Float64Array;
  /** Logarithm of the prior weight and of the probability of the votes. */
  readonly evidence: number;
}

/**
 * Maximises the logarithm of the posterior by Newton's method from a point that should be close,
 * with shorter steps where it would fall.
 */
export function laplaceFit(prior: Prior, input: FitInput, start: Float64Array): LaplaceFit {
  const { hypothesis } = prior;
  const problem = new Problem(prior, input);
  const d = problem.dimension;
  let mode = start;
  let value = problem.value(mode);
  let L: Float64Array;
  for (let step = 1; ; step++) {
    const { gradient, precision } = problem.derivatives(mode);
    L = cholesky(precision, d);
    const delta = solve(L, gradient);
    let gain = 0;
    for (let i = 0; i < d; i++) gain += delta[i]! * gradient[i]!;
    if (gain < TOLERANCE || step > MAX_STEPS) break;
    for (let t = 1; ; t /= 2) {
      const next = mode.map((coefficient, i) => coefficient + t * delta[i]!);
      const found = problem.value(next);
      // So close to the mode a whole step is right, and the values differ by rounding only.
      if (found < value && gain > CLOSE && t > SHORTEST) continue;
      [mode, value] = [next, found];
      break;
    }
  }
  let logDeterminant = 0;
  for (let i = 0; i < d; i++) logDeterminant += 2 * Math.log(L[i * d + i]!);
  const volume = (problem.priorLogDeterminant - logDeterminant) / 2;
  return { hypothesis, mode, L, evidence: hypothesis.logPrior + value + volume };
}

const MAX_STEPS = 50;
/** Expected gain of the last step, in units of the logarithm of the posterior. Fits from other starts agree in ten digits. */
const TOLERANCE = 1e-20;
const CLOSE = 1e-8;
const SHORTEST = 1e-3;

/** One group of votes as an observation: y1 wins and y0 losses (likes and dislikes of a rating) at the logit `ratio` * z. */
interface Row {
  readonly group: VoteGroup;
  readonly isRating: boolean;
  /** Told score of a, minus that of b if it is a duel. */
  readonly told: number;
  readonly y1: number;
  readonly y0: number;
  readonly ratio: number;
}

class Problem {
  readonly dimension: number;
  readonly priorMean: Float64Array;
  readonly priorLogDeterminant: number;
  readonly #hypothesis: Hypothesis;
  readonly #input: FitInput;
  readonly #rows: readonly Row[];
  readonly #sharedPrecision: Float64Array;
  /** Prior precision of theta_k, by model. */
  readonly #precisions: readonly Float64Array[];

  constructor(prior: Prior, input: FitInput) {
    const { hypothesis } = prior;
    const { models: K, categories: M, decided } = input;
    this.#hypothesis = hypothesis;
    this.#input = input;
    this.dimension = K * M + SHARED;
    this.priorMean = new Float64Array(this.dimension);
    this.priorMean[K * M + TOLD] = hypothesis.told;
    this.priorMean[K * M + SLOPE] = 1;
    this.#sharedPrecision = priorVariances(hypothesis).map((v) => 1 / Math.max(v, 1e-9));
    let logDeterminant = 0;
    for (const precision of this.#sharedPrecision) logDeterminant += Math.log(precision);
    this.#precisions = Array.from({ length: K }, (_, k) => {
      const covariance = prior.priorCovariance(k);
      const L = cholesky(covariance, M);
      for (let m = 0; m < M; m++) logDeterminant -= 2 * Math.log(L[m * M + m]!);
      return inverse(covariance, M);
    });
    this.priorLogDeterminant = logDeterminant;
    this.#rows = input.groups.map((group) => {
      const { a, b, w, wins, losses, ties } = group;
      const scores = input.told(w);
      const isRating = a === b;
      return {
        group,
        isRating,
        told: scores[a]! - (isRating ? 0 : scores[b]!),
        y1: wins + ties / 2,
        y0: losses + ties / 2,
        // If ties are common, a vote says less; see `withTies`.
        ratio: isRating ? 1 : decided,
      };
    });
  }

  /** The logarithm of the posterior, up to a constant. */
  value(at: Float64Array): number {
    const { models: K, categories: M } = this.#input;
    let value = 0;
    for (const row of this.#rows) {
      const z = row.ratio * this.#logit(row, at);
      value -= (row.y1 * softplus(-z) + row.y0 * softplus(z)) / row.ratio;
    }
    this.#precisions.forEach((precision, k) => {
      value -= quadraticForm(precision, at.subarray(k * M, (k + 1) * M)) / 2;
    });
    this.#sharedPrecision.forEach((precision, i) => {
      value -= (precision * (at[K * M + i]! - this.priorMean[K * M + i]!) ** 2) / 2;
    });
    return value;
  }

  /** The gradient, and the expected negative second derivatives, of which the lower half is complete. */
  derivatives(at: Float64Array): { gradient: Float64Array; precision: Float64Array } {
    const { models: K, categories: M } = this.#input;
    const d = this.dimension;
    const gradient = new Float64Array(d);
    const precision = new Float64Array(d * d);
    this.#precisions.forEach((own, k) => {
      const theta = at.subarray(k * M, (k + 1) * M);
      for (let m = 0; m < M; m++) {
        const i = k * M + m;
        gradient[i] = -dotAt(own, m * M, theta, 0, M);
        precision.set(own.subarray(m * M, (m + 1) * M), i * d + k * M);
      }
    });
    for (let i = K * M; i < d; i++) {
      const own = this.#sharedPrecision[i - K * M]!;
      gradient[i] = -own * (at[i]! - this.priorMean[i]!);
      precision[i * d + i] = own;
    }
    const index = new Int32Array(2 * M + SHARED);
    const factor = new Float64Array(2 * M + SHARED);
    for (const row of this.#rows) {
      const { y1, y0, ratio } = row;
      const z = ratio * this.#logit(row, at);
      const [p, rest] = [sigmoid(z), sigmoid(-z)];
      const slope = y1 * rest - y0 * p;
      const curvature = ratio * (y1 + y0) * p * rest;
      const n = this.#slopes(row, at, index, factor);
      for (let i = 0; i < n; i++) {
        const place = index[i]!;
        gradient[place]! += slope * factor[i]!;
        const scaled = curvature * factor[i]!;
        const line = place * d;
        // `cholesky` reads the lower half only. The places increase.
        for (let j = 0; j <= i; j++) precision[line + index[j]!]! += scaled * factor[j]!;
      }
    }
    return { gradient, precision };
  }

  /** s times the difference of the utilities of a duel, or the utility of a rating, both without bias. */
  #level({ group: { a, b, w }, isRating, told }: Row, at: Float64Array): number {
    const { models: K, categories: M } = this.#input;
    let level = at[K * M + TOLD]! * told + dotAt(at, a * M, w, 0, M);
    if (!isRating) level -= dotAt(at, b * M, w, 0, M);
    return this.#hypothesis.scale * level;
  }

  #logit(row: Row, at: Float64Array): number {
    const { models: K, categories: M, position } = this.#input;
    const level = this.#level(row, at);
    const shared = K * M;
    if (row.isRating) return at[shared + SLOPE]! * level + at[shared + BIAS]!;
    return level + (position ? at[shared + POSITION]! : 0);
  }

  /** Writes the derivatives of the logit that are not 0, with their places in increasing order, and returns their number. */
  #slopes(row: Row, at: Float64Array, index: Int32Array, factor: Float64Array): number {
    const { models: K, categories: M, position } = this.#input;
    const { a, b, w } = row.group;
    const shared = K * M;
    const s = this.#hypothesis.scale * (row.isRating ? at[shared + SLOPE]! : 1);
    let n = 0;
    const add = (place: number, value: number) => {
      index[n] = place;
      factor[n++] = value;
    };
    const [lower, upper] = a < b ? [a, b] : [b, a];
    for (const model of row.isRating ? [a] : [lower, upper]) {
      const sign = model === a ? s : -s;
      for (let m = 0; m < M; m++) add(model * M + m, sign * w[m]!);
    }
    add(shared + TOLD, s * row.told);
    if (row.isRating) {
      add(shared + BIAS, 1);
      add(shared + SLOPE, this.#level(row, at));
    } else if (position) add(shared + POSITION, 1);
    return n;
  }
}

/** Solves L L^T x = b. */
function solve(L: Float64Array, b: Float64Array): Float64Array {
  return solveTransposed(L, solveLower(L, b));
}

/** Solves L y = b. */
export function solveLower(L: Float64Array, b: Float64Array): Float64Array {
  const n = b.length;
  const y = new Float64Array(n);
  for (let i = 0; i < n; i++) y[i] = (b[i]! - dotAt(L, i * n, y, 0, i)) / L[i * n + i]!;
  return y;
}

/** Solves L^T x = y. */
export function solveTransposed(L: Float64Array, y: Float64Array): Float64Array {
  const n = y.length;
  const x = y.slice();
  for (let i = n - 1; i >= 0; i--) {
    x[i]! /= L[i * n + i]!;
    for (let j = 0; j < i; j++) x[j]! -= L[i * n + j]! * x[i]!;
  }
  return x;
}
