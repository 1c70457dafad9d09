import { dotAt, norm } from "../linalg/linalg.ts";
import { RowProducts } from "../linalg/row-products.ts";
import type { hadamardFactors } from "./features.ts";

/**
 * The features phi of past rounds. Langevin chains need only two linear maps: the
 * scores <theta, phi> of a batch of rounds, and the transposed map, which takes a
 * derivative with respect to the scores back to theta. An implementation decides what
 * it stores per round. A batch lists rounds; its scores are B rows of K numbers.
 */
export interface PastFeatures {
  /** Adds the newest round, given phi of all models there. */
  push(rows: Float64Array): void;
  /** out[b, k] <- <theta, phi(x_i, a_k)> with i = batch[b] */
  scores(theta: Float64Array, batch: Int32Array, out: Float64Array): void;
  /** out <- out + sum_b sum_k C[b, k] phi(x_i, a_k) */
  addTransposed(C: Float64Array, batch: Int32Array, out: Float64Array): void;
}

/** Stores phi as it is, for any features: K x d numbers per round (22 MB at K = 10, d = 384, t = 720). */
export class StoredPast implements PastFeatures {
  readonly #K: number;
  readonly #d: number;
  readonly #rows: GrowingRows;

  constructor(models: number, dimension: number) {
    this.#K = models;
    this.#d = dimension;
    this.#rows = new GrowingRows(models * dimension);
  }

  push(rows: Float64Array): void {
    this.#rows.push(rows);
  }

  scores(theta: Float64Array, batch: Int32Array, out: Float64Array): void {
    for (let b = 0; b < batch.length; b++) {
      for (let k = 0; k < this.#K; k++) out[b * this.#K + k] = this.#score(theta, batch[b]!, k);
    }
  }

  addTransposed(C: Float64Array, batch: Int32Array, out: Float64Array): void {
    const rows = this.#rows.data;
    for (let b = 0; b < batch.length; b++) {
      for (let k = 0; k < this.#K; k++) {
        const c = C[b * this.#K + k]!;
        if (c === 0) continue;
        const at = (batch[b]! * this.#K + k) * this.#d;
        for (let i = 0; i < this.#d; i++) out[i]! += c * rows[at + i]!;
      }
    }
  }

  #score(theta: Float64Array, i: number, k: number): number {
    return dotAt(this.#rows.data, (i * this.#K + k) * this.#d, theta, 0, this.#d);
  }
}

/** Rows of equal width in a flat array, which doubles when it is full. */
export class GrowingRows {
  readonly width: number;
  data: Float64Array;
  length = 0;

  constructor(width: number) {
    this.width = width;
    this.data = new Float64Array(64 * width);
  }

  push(row: ArrayLike<number>): void {
    if (row.length !== this.width) {
      throw new RangeError(`the row has ${row.length} numbers, the other rows have ${this.width}`);
    }
    const at = this.length * this.width;
    if (at === this.data.length) {
      const grown = new Float64Array(2 * at);
      grown.set(this.data);
      this.data = grown;
    }
    this.data.set(row, at);
    this.length++;
  }

  row(i: number): Float64Array {
    return this.data.subarray(i * this.width, (i + 1) * this.width);
  }

  /** Copies the rows. */
  slice(): Float64Array {
    return this.data.slice(0, this.length * this.width);
  }
}

/**
 * Fast past features for phi(x, a) = (x o a) / |x o a|. Most of the time of the
 * Langevin policies is spent here. Only x and K inverse norms are stored per round
 * instead of K x d numbers, because
 *
 *   <theta, phi(x_i, a_k)> = x_i . (theta o a_k) / |x_i o a_k|.
 *
 * The scores of a batch are one product of its x (B x d) with theta o a (K x d), and the transposed
 * map is sum_k a_k o (sum_b C_bk / |x_i o a_k| x_i). With metadata, x and a are extended as in
 * `hadamardFactors`.
 */
export class HadamardPast implements PastFeatures {
  readonly #K: number;
  readonly #a: readonly Float64Array[];
  /** The queries in the form in which `Rounds` stores them, without metadata. */
  readonly #queries: GrowingRows;
  readonly #extend: ((x: Float64Array) => Float64Array) | undefined;
  readonly #inverseNorm: GrowingRows;
  /** Products of x_i, extended if there is metadata, with theta o a_k. */
  readonly #products: RowProducts;
  /** C_bk / |x_i o a_k| */
  #scaled = new Float64Array(0);

  constructor({ a, extend }: ReturnType<typeof hadamardFactors>, queries: GrowingRows) {
    this.#K = a.length;
    this.#a = a;
    this.#queries = queries;
    this.#extend = extend;
    this.#inverseNorm = new GrowingRows(this.#K);
    this.#products = new RowProducts(a);
  }

  push(): void {
    const query = this.#queries.row(this.#queries.length - 1);
    const x = this.#extend ? this.#extend(query) : query;
    this.#products.push(x);
    const inverse = this.#a.map((a) => {
      const length = norm(x.map((value, i) => value * a[i]!));
      return length > 0 ? 1 / length : 0;
    });
    this.#inverseNorm.push(inverse);
  }

  scores(theta: Float64Array, batch: Int32Array, out: Float64Array): void {
    const K = this.#K;
    const inverseNorm = this.#inverseNorm.data;
    this.#products.multiply(theta, batch, out);
    for (let b = 0; b < batch.length; b++) {
      const at = batch[b]! * K;
      for (let k = 0; k < K; k++) out[b * K + k]! *= inverseNorm[at + k]!;
    }
  }

  addTransposed(C: Float64Array, batch: Int32Array, out: Float64Array): void {
    const K = this.#K;
    const inverseNorm = this.#inverseNorm.data;
    if (this.#scaled.length < batch.length * K) this.#scaled = new Float64Array(batch.length * K);
    const scaled = this.#scaled;
    for (let b = 0; b < batch.length; b++) {
      const at = batch[b]! * K;
      for (let k = 0; k < K; k++) scaled[b * K + k] = C[b * K + k]! * inverseNorm[at + k]!;
    }
    this.#products.addTransposed(scaled, batch, out);
  }
}
