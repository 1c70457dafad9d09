import { cholesky, dotAt, inverse, quadraticForm, tryCholesky } from "../linalg/linalg.ts";
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
import { sigmoid } from "./btl.ts";
import { KindFit, type KindVotes } from "./kind-fit.ts";
import type { VoteGroup } from "./vote-groups.ts";

/** The votes that a posterior is fitted to. */
export interface FitInput {
  /** Models of the pool and former ones. */
  readonly models: number;
  readonly categories: number;
  readonly groups: readonly VoteGroup[];
  /** Votes of kinds of voters other than people. */
  readonly kinds: readonly KindVotes[];
  /** Told scores of all models in each category, relative to the mean of the pool. */
  readonly told: readonly Float64Array[];
  /** r: share of the votes that have a winner. */
  readonly decided: number;
  /** Whether a preference of voters for the answer shown first is estimated. */
  readonly position: boolean;
}

/** A hypothesis and the covariance of each theta_k before any vote. */
type Prior = Pick<BlockPosterior, "hypothesis" | "priorCovariance">;

/**
 * The posterior of all coefficients under one hypothesis by Laplace's approximation: the mode
 * given all votes at once, and the expected curvature there. The coefficients are theta_1 to theta_K,
 * with one number per category each, the shared ones, and those of the kinds of voters. It differs in two ways from the block
 * posteriors, which learn vote by vote and choose the models. It has the covariances between models,
 * which matter because pairs are chosen adaptively. And each query belongs to one category, which is
 * unknown: with the membership w and the logit z_m in category m, a vote prefers a with
 *
 *   p = sum_m w_m sigmoid(z_m).
 *
 * This is linear in w, so votes on different queries may be added up
 * (docs/decisions/0031-one-category-per-query.md).
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
 * with shorter steps where it would fall. Far from the mode it may not be concave; there the expected
 * curvature gives the direction.
 */
export function laplaceFit(prior: Prior, input: FitInput, start: Float64Array): LaplaceFit {
  const { hypothesis } = prior;
  const problem = new Problem(prior, input);
  const d = problem.dimension;
  let mode = start;
  let value = problem.value(mode);
  const expectedAt = (at: Float64Array) =>
    cholesky(problem.derivatives(at, "expected").precision, d);
  for (let step = 1; ; step++) {
    const { gradient, precision } = problem.derivatives(mode, "observed");
    const delta = solve(tryCholesky(precision, d) ?? expectedAt(mode), gradient);
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
  const L = expectedAt(mode);
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

/** One group of votes as an observation: y1 wins and y0 losses (likes and dislikes of a rating) at the logits `ratio` * z_m. */
interface Row {
  readonly group: VoteGroup;
  readonly isRating: boolean;
  /** Told score of a in each category, minus that of b if it is a duel. */
  readonly told: Float64Array;
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
  readonly #kinds: KindFit;

  constructor(prior: Prior, input: FitInput) {
    const { hypothesis } = prior;
    const { models: K, categories: M, decided } = input;
    this.#hypothesis = hypothesis;
    this.#input = input;
    this.#kinds = new KindFit(input.kinds, input, hypothesis, K * M + SHARED);
    this.dimension = K * M + SHARED + this.#kinds.dimension;
    this.priorMean = new Float64Array(this.dimension);
    this.priorMean[K * M + TOLD] = hypothesis.told;
    this.priorMean[K * M + SLOPE] = 1;
    this.#sharedPrecision = priorVariances(hypothesis).map((v) => 1 / Math.max(v, 1e-9));
    let logDeterminant = 0;
    for (const precision of this.#sharedPrecision) logDeterminant += Math.log(precision);
    for (const precision of this.#kinds.priorPrecision) logDeterminant += Math.log(precision);
    this.#precisions = Array.from({ length: K }, (_, k) => {
      const covariance = prior.priorCovariance(k);
      const L = cholesky(covariance, M);
      for (let m = 0; m < M; m++) logDeterminant -= 2 * Math.log(L[m * M + m]!);
      return inverse(covariance, M);
    });
    this.priorLogDeterminant = logDeterminant;
    this.#rows = input.groups.map((group) => {
      const { a, b, wins, losses, ties } = group;
      const isRating = a === b;
      return {
        group,
        isRating,
        told: Float64Array.from(input.told, (scores) => scores[a]! - (isRating ? 0 : scores[b]!)),
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
      const { w } = row.group;
      let [p, rest] = [TINY, TINY];
      for (let m = 0; m < M; m++) {
        const z = row.ratio * this.#logit(row, at, this.#level(row, at, m));
        p += w[m]! * sigmoid(z);
        rest += w[m]! * sigmoid(-z);
      }
      value += (row.y1 * Math.log(p) + row.y0 * Math.log(rest)) / row.ratio;
    }
    this.#precisions.forEach((precision, k) => {
      value -= quadraticForm(precision, at.subarray(k * M, (k + 1) * M)) / 2;
    });
    this.#sharedPrecision.forEach((precision, i) => {
      value -= (precision * (at[K * M + i]! - this.priorMean[K * M + i]!) ** 2) / 2;
    });
    return this.#kinds.dimension > 0 ? value + this.#kinds.value(at) : value;
  }

  /**
   * The gradient, and the negative second derivatives, of which the lower half is complete. The
   * expected ones are their mean over the votes that could have been cast.
   */
  derivatives(
    at: Float64Array,
    kind: "expected" | "observed",
  ): { gradient: Float64Array; precision: Float64Array } {
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
    for (let i = K * M; i < K * M + SHARED; i++) {
      const own = this.#sharedPrecision[i - K * M]!;
      gradient[i] = -own * (at[i]! - this.priorMean[i]!);
      precision[i * d + i] = own;
    }
    const slopes = {
      index: new Int32Array(2 * M + SHARED),
      factor: new Float64Array(2 * M + SHARED),
      bends: new Float64Array(M),
    };
    const { index, factor } = slopes;
    const isObserved = kind === "observed";
    for (const row of this.#rows) {
      const { y1, y0, ratio } = row;
      const { p, rest, n } = this.#slopes(row, at, slopes);
      const slope = (y1 / p - y0 / rest) / ratio;
      const curvature = isObserved
        ? (y1 / p ** 2 + y0 / rest ** 2) / ratio
        : (y1 + y0) / (p * rest * ratio);
      for (let i = 0; i < n; i++) {
        const place = index[i]!;
        gradient[place]! += slope * factor[i]!;
        const scaled = curvature * factor[i]!;
        const line = place * d;
        // `cholesky` reads the lower half only. The places increase.
        for (let j = 0; j <= i; j++) precision[line + index[j]!]! += scaled * factor[j]!;
      }
      if (isObserved) this.#bend(row, at, precision, slopes.bends, slope);
    }
    this.#kinds.addDerivatives(at, isObserved, gradient, precision);
    return { gradient, precision };
  }

  /**
   * Subtracts `slope` times the second derivatives of p, which are the sum over m of bends[m] times the
   * outer product of the derivatives of z_m / ratio. z is taken as linear, so for ratings they are
   * those at a fixed SLOPE.
   */
  #bend(
    { group: { a, b }, isRating, told }: Row,
    at: Float64Array,
    precision: Float64Array,
    bends: Float64Array,
    slope: number,
  ): void {
    const { models: K, categories: M, position } = this.#input;
    const d = this.dimension;
    const s = this.#hypothesis.scale * (isRating ? at[K * M + SLOPE]! : 1);
    const told0 = (K * M + TOLD) * d;
    const bias = K * M + (isRating ? BIAS : POSITION);
    const hasBias = isRating || position;
    const [lower, upper] = a < b ? [a, b] : [b, a];
    const sign = a <= b ? s : -s;
    for (let m = 0; m < M; m++) {
      const bend = -slope * bends[m]!;
      const [first, second] = [lower * M + m, upper * M + m];
      const x = s * told[m]!;
      precision[first * d + first]! += bend * s * s;
      precision[told0 + first]! += bend * x * sign;
      precision[told0 + K * M + TOLD]! += bend * x * x;
      if (hasBias) {
        precision[bias * d + first]! += bend * sign;
        precision[bias * d + K * M + TOLD]! += bend * x;
        precision[bias * d + bias]! += bend;
      }
      if (isRating) continue;
      precision[second * d + second]! += bend * s * s;
      precision[second * d + first]! -= bend * s * s;
      precision[told0 + second]! -= bend * x * sign;
      if (hasBias) precision[bias * d + second]! -= bend * sign;
    }
  }

  /** s times the difference of the utilities of a duel, or the utility of a rating, in category m, without bias. */
  #level({ group: { a, b }, isRating, told }: Row, at: Float64Array, m: number): number {
    const { models: K, categories: M } = this.#input;
    const other = isRating ? 0 : at[b * M + m]!;
    return this.#hypothesis.scale * (at[K * M + TOLD]! * told[m]! + at[a * M + m]! - other);
  }

  #logit({ isRating }: Row, at: Float64Array, level: number): number {
    const { models: K, categories: M, position } = this.#input;
    const shared = K * M;
    if (isRating) return at[shared + SLOPE]! * level + at[shared + BIAS]!;
    return level + (position ? at[shared + POSITION]! : 0);
  }

  /**
   * Computes p and 1 - p, and writes the derivatives of p that are not 0 with their places in
   * increasing order; n is their number. It also writes the second derivatives of the terms of p by
   * the logits.
   */
  #slopes(
    row: Row,
    at: Float64Array,
    { index, factor, bends }: Slopes,
  ): { p: number; rest: number; n: number } {
    const { models: K, categories: M, position } = this.#input;
    const { isRating, told, ratio } = row;
    const { a, b, w } = row.group;
    const shared = K * M;
    const s = this.#hypothesis.scale * (isRating ? at[shared + SLOPE]! : 1);
    const own = isRating || a < b ? 0 : M;
    const others = M - own;
    let [p, rest, ofTold, ofBias, ofSlope] = [TINY, TINY, 0, 0, 0];
    for (let m = 0; m < M; m++) {
      const level = this.#level(row, at, m);
      const z = ratio * this.#logit(row, at, level);
      const [yes, no] = [sigmoid(z), sigmoid(-z)];
      p += w[m]! * yes;
      rest += w[m]! * no;
      const steepness = w[m]! * yes * no * ratio;
      bends[m] = steepness * (no - yes) * ratio;
      index[own + m] = a * M + m;
      factor[own + m] = s * steepness;
      if (!isRating) {
        index[others + m] = b * M + m;
        factor[others + m] = -s * steepness;
      }
      ofTold += s * steepness * told[m]!;
      ofBias += steepness;
      ofSlope += steepness * level;
    }
    let n = isRating ? M : 2 * M;
    const add = (place: number, value: number) => {
      index[n] = shared + place;
      factor[n++] = value;
    };
    add(TOLD, ofTold);
    if (isRating) {
      add(BIAS, ofBias);
      add(SLOPE, ofSlope);
    } else if (position) add(POSITION, ofBias);
    return { p, rest, n };
  }
}

/** Derivatives of p for one group of votes. */
interface Slopes {
  readonly index: Int32Array;
  readonly factor: Float64Array;
  readonly bends: Float64Array;
}

/** Keeps the logarithm of a probability finite. */
const TINY = 1e-300;

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
