import { type Hypothesis, TOLD } from "./block-posterior.ts";
import { sigmoid } from "./btl.ts";
import { COEFFICIENTS, FIRST, kindPrior, LENGTH, OWN, SCALE, tasteSd } from "./kind-beliefs.ts";
import type { VoteGroup } from "./vote-groups.ts";

/** The votes of one kind of voters, and the share of its duels that have a winner. */
export interface KindVotes {
  readonly name: string;
  readonly groups: readonly VoteGroup[];
  readonly decided: number;
}

interface Size {
  readonly models: number;
  readonly categories: number;
  readonly told: readonly Float64Array[];
}

/** One group of votes: see `Row` in laplace-fit.ts. */
interface Row {
  readonly group: VoteGroup;
  readonly isRating: boolean;
  /** Index of the first coefficient of the kind; its tastes follow the coefficients. */
  readonly start: number;
  readonly ratio: number;
}

/**
 * The votes of kinds of voters other than people in a Laplace fit, with the model of
 * kind-beliefs.ts. Their coefficients and tastes follow those of the models at `offset`.
 */
export class KindFit {
  /** Number of coefficients and tastes of all kinds. */
  readonly dimension: number;
  readonly priorMean: Float64Array;
  readonly priorPrecision: Float64Array;
  readonly #rows: readonly Row[];
  readonly #size: Size;
  readonly #offset: number;
  readonly #scale: number;

  constructor(kinds: readonly KindVotes[], size: Size, hypothesis: Hypothesis, offset: number) {
    const each = COEFFICIENTS + size.models;
    this.dimension = kinds.length * each;
    this.priorMean = new Float64Array(this.dimension);
    this.priorPrecision = new Float64Array(this.dimension).fill(1 / tasteSd(hypothesis) ** 2);
    this.#size = size;
    this.#offset = offset;
    this.#scale = hypothesis.scale;
    this.#rows = kinds.flatMap(({ name, groups, decided }, c) => {
      const { mean, sd } = kindPrior(name);
      this.priorMean.set(mean, c * each);
      this.priorPrecision.set(
        sd.map((value) => 1 / value ** 2),
        c * each,
      );
      const start = offset + c * each;
      return groups.map((group) => {
        const isRating = group.a === group.b;
        return { group, isRating, start, ratio: isRating ? 1 : decided };
      });
    });
  }

  /** Logarithm of the prior density and of the probability of the votes, up to a constant. */
  value(at: Float64Array): number {
    let value = 0;
    this.priorPrecision.forEach((precision, i) => {
      value -= (precision * (at[this.#offset + i]! - this.priorMean[i]!) ** 2) / 2;
    });
    for (const row of this.#rows) {
      const { wins, losses, ties, w } = row.group;
      let [p, rest] = [TINY, TINY];
      for (let m = 0; m < w.length; m++) {
        const z = row.ratio * this.#logit(row, at, this.#level(row, at, m));
        p += w[m]! * sigmoid(z);
        rest += w[m]! * sigmoid(-z);
      }
      const [y1, y0] = [wins + ties / 2, losses + ties / 2];
      value += (y1 * Math.log(p) + y0 * Math.log(rest)) / row.ratio;
    }
    return value;
  }

  /** Adds the gradient and the negative second derivatives, of which the lower half is complete: see laplace-fit.ts. */
  addDerivatives(
    at: Float64Array,
    isObserved: boolean,
    gradient: Float64Array,
    precision: Float64Array,
  ): void {
    const d = gradient.length;
    this.priorPrecision.forEach((own, i) => {
      const place = this.#offset + i;
      gradient[place]! -= own * (at[place]! - this.priorMean[i]!);
      precision[place * d + place]! += own;
    });
    const M = this.#size.categories;
    const whole = new Slopes(2 * M + ENTRIES);
    const own = new Slopes(2 + ENTRIES);
    const steepness = new Float64Array(M);
    const bends = new Float64Array(M);
    for (const row of this.#rows) {
      const { ratio, group } = row;
      const { wins, losses, ties, w } = group;
      const [y1, y0] = [wins + ties / 2, losses + ties / 2];
      let [p, rest] = [TINY, TINY];
      for (let m = 0; m < M; m++) {
        const z = ratio * this.#logit(row, at, this.#level(row, at, m));
        const [yes, no] = [sigmoid(z), sigmoid(-z)];
        p += w[m]! * yes;
        rest += w[m]! * no;
        steepness[m] = w[m]! * yes * no * ratio;
        bends[m] = steepness[m]! * (no - yes) * ratio;
      }
      const slope = (y1 / p - y0 / rest) / ratio;
      const curvature = isObserved
        ? (y1 / p ** 2 + y0 / rest ** 2) / ratio
        : (y1 + y0) / (p * rest * ratio);
      this.#slopes(row, at, 0, M, steepness, whole);
      whole.addProduct(curvature, precision, d);
      for (let i = 0; i < whole.length; i++) gradient[whole.index[i]!]! += slope * whole.factor[i]!;
      if (!isObserved) continue;
      // The second derivatives of p: those of the sigmoids, and those of the product of scale and utility.
      for (let m = 0; m < M; m++) {
        this.#slopes(row, at, m, m + 1, ONES, own);
        own.addProduct(-slope * bends[m]!, precision, d);
        this.#addProductRule(row, m, -slope * steepness[m]!, precision, d);
      }
    }
  }

  /** Adds `factor` times the second derivatives of the logit in category m, which is a product of the scale and the utilities. */
  #addProductRule(row: Row, m: number, factor: number, precision: Float64Array, d: number): void {
    const { group, isRating, start } = row;
    const { a, b } = group;
    const { models: K, categories: M, told } = this.#size;
    const scaled = factor * this.#scale;
    const line = (start + SCALE) * d;
    const gap = told[m]![a]! - (isRating ? 0 : told[m]![b]!);
    const taste = start + COEFFICIENTS;
    precision[line + a * M + m]! += scaled;
    precision[line + K * M + TOLD]! += scaled * gap;
    precision[(taste + a) * d + start + SCALE]! += scaled;
    if (isRating) return;
    precision[line + b * M + m]! -= scaled;
    precision[(taste + b) * d + start + SCALE]! -= scaled;
  }

  /**
   * Writes the derivatives of the logits in the categories from..to, added up with these weights.
   * The places increase.
   */
  #slopes(
    row: Row,
    at: Float64Array,
    from: number,
    to: number,
    weights: Float64Array,
    out: Slopes,
  ): void {
    const { group, isRating, start } = row;
    const { a, b, traits } = group;
    const { models: K, categories: M, told } = this.#size;
    const factor = at[start + SCALE]! * this.#scale;
    const [lower, upper] = a < b ? [a, b] : [b, a];
    const sign = a <= b ? factor : -factor;
    const taste = start + COEFFICIENTS;
    let [total, ofTold, ofScale] = [0, 0, 0];
    out.length = 0;
    for (let m = from; m < to; m++) {
      const weight = weights[m - from]!;
      const gap = told[m]![a]! - (isRating ? 0 : told[m]![b]!);
      total += weight;
      ofTold += weight * factor * gap;
      ofScale += weight * this.#level(row, at, m);
      out.push(lower * M + m, weight * sign);
    }
    if (!isRating) {
      for (let m = from; m < to; m++) out.push(upper * M + m, -weights[m - from]! * sign);
    }
    out.push(K * M + TOLD, ofTold);
    out.push(start + SCALE, ofScale);
    out.push(start + FIRST, total);
    if (!isRating) {
      out.push(start + LENGTH, total * traits[0]!);
      out.push(start + OWN, total * traits[1]!);
    }
    out.push(taste + lower, total * sign);
    if (!isRating) out.push(taste + upper, -total * sign);
  }

  /** s times the difference of the utilities as the kind sees them, or s times the one that it rates. */
  #level({ group: { a, b }, isRating, start }: Row, at: Float64Array, m: number): number {
    const { models: K, categories: M, told } = this.#size;
    const seen = (k: number) =>
      at[K * M + TOLD]! * told[m]![k]! + at[k * M + m]! + at[start + COEFFICIENTS + k]!;
    return this.#scale * (seen(a) - (isRating ? 0 : seen(b)));
  }

  #logit({ group: { traits }, start }: Row, at: Float64Array, level: number): number {
    const bias =
      at[start + FIRST]! + at[start + LENGTH]! * traits[0]! + at[start + OWN]! * traits[1]!;
    return at[start + SCALE]! * level + bias;
  }
}

/** Derivatives that are not 0, with their places in increasing order. */
class Slopes {
  readonly index: Int32Array;
  readonly factor: Float64Array;
  length = 0;

  constructor(most: number) {
    this.index = new Int32Array(most);
    this.factor = new Float64Array(most);
  }

  push(place: number, factor: number): void {
    this.index[this.length] = place;
    this.factor[this.length++] = factor;
  }

  /** Adds `factor` times the outer product of the derivatives to the lower half of a d x d matrix. */
  addProduct(factor: number, matrix: Float64Array, d: number): void {
    for (let i = 0; i < this.length; i++) {
      const scaled = factor * this.factor[i]!;
      const line = this.index[i]! * d;
      for (let j = 0; j <= i; j++) matrix[line + this.index[j]!]! += scaled * this.factor[j]!;
    }
  }
}

/** Places of one vote besides those of theta: the told scores, the coefficients, and two tastes. */
const ENTRIES = 1 + COEFFICIENTS + 2;
const ONES = Float64Array.of(1);

/** Keeps the logarithm of a probability finite. */
const TINY = 1e-300;
