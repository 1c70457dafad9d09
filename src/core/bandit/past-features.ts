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
  /** Like `scores`, but only for the two models of each vote. Other entries of `out` keep their values. */
  pairScores(theta: Float64Array, batch: Int32Array, votes: GrowingRows, out: Float64Array): void;
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

  pairScores(theta: Float64Array, batch: Int32Array, votes: GrowingRows, out: Float64Array): void {
    for (let b = 0; b < batch.length; b++) {
      for (let side = 0; side < 2; side++) {
        const k = votes.data[batch[b]! * 4 + side]!;
        out[b * this.#K + k] = this.#score(theta, batch[b]!, k);
      }
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
  readonly #d: number;
  /** The queries in the form in which `Rounds` stores them, without metadata. */
  readonly #queries: GrowingRows;
  readonly #extend: ((x: Float64Array) => Float64Array) | undefined;
  /** x_i, extended if there is metadata. */
  readonly #x: GrowingRows;
  readonly #a: Float64Array;
  readonly #inverseNorm: GrowingRows;
  readonly #thetaA: Float64Array;
  readonly #products: RowProducts;
  #rows = new Int32Array(0);
  #c = new Float64Array(0);

  constructor({ a, extend }: ReturnType<typeof hadamardFactors>, queries: GrowingRows) {
    this.#K = a.length;
    this.#d = a[0]!.length;
    this.#queries = queries;
    this.#extend = extend;
    this.#x = extend ? new GrowingRows(this.#d) : queries;
    this.#a = new Float64Array(this.#K * this.#d);
    a.forEach((row, k) => {
      this.#a.set(row, k * this.#d);
    });
    this.#inverseNorm = new GrowingRows(this.#K);
    this.#thetaA = new Float64Array(this.#K * this.#d);
    this.#products = new RowProducts(this.#d, this.#K);
  }

  push(): void {
    const query = this.#queries.row(this.#queries.length - 1);
    if (this.#extend) this.#x.push(this.#extend(query));
    const x = this.#x.row(this.#x.length - 1);
    this.#products.push(x);
    this.#inverseNorm.push(
      Array.from({ length: this.#K }, (_, k) => {
        const length = norm(x.map((value, i) => value * this.#a[k * this.#d + i]!));
        return length > 0 ? 1 / length : 0;
      }),
    );
  }

  scores(theta: Float64Array, batch: Int32Array, out: Float64Array): void {
    const K = this.#K;
    const inverseNorm = this.#inverseNorm.data;
    this.#products.setMatrix(theta, this.#a);
    this.#products.multiply(batch, out);
    for (let b = 0; b < batch.length; b++) {
      const at = batch[b]! * K;
      for (let k = 0; k < K; k++) out[b * K + k]! *= inverseNorm[at + k]!;
    }
  }

  pairScores(theta: Float64Array, batch: Int32Array, votes: GrowingRows, out: Float64Array): void {
    const K = this.#K;
    const d = this.#d;
    const x = this.#x.data;
    const thetaA = this.#weigh(theta);
    const inverseNorm = this.#inverseNorm.data;
    const pairs = votes.data;
    for (let b = 0; b < batch.length; b++) {
      const i = batch[b]!;
      const k = pairs[i * 4]! | 0;
      const l = pairs[i * 4 + 1]! | 0;
      const xi = i * d;
      let sk = 0;
      let sl = 0;
      let tk = 0;
      let tl = 0;
      let r = 0;
      for (; r + 1 < d; r += 2) {
        const even = x[xi + r]!;
        const odd = x[xi + r + 1]!;
        sk += even * thetaA[k * d + r]!;
        sl += even * thetaA[l * d + r]!;
        tk += odd * thetaA[k * d + r + 1]!;
        tl += odd * thetaA[l * d + r + 1]!;
      }
      if (r < d) {
        sk += x[xi + r]! * thetaA[k * d + r]!;
        sl += x[xi + r]! * thetaA[l * d + r]!;
      }
      out[b * K + k] = (sk + tk) * inverseNorm[i * K + k]!;
      out[b * K + l] = (sl + tl) * inverseNorm[i * K + l]!;
    }
  }

  addTransposed(C: Float64Array, batch: Int32Array, out: Float64Array): void {
    const K = this.#K;
    const d = this.#d;
    const a = this.#a;
    const inverseNorm = this.#inverseNorm.data;
    if (this.#rows.length < batch.length + 3) this.#makeRoom(batch.length + 3);
    const rows = this.#rows;
    const c = this.#c;
    for (let k = 0; k < K; k++) {
      let n = 0;
      for (let b = 0; b < batch.length; b++) {
        const pull = C[b * K + k]!;
        if (pull === 0) continue;
        const i = batch[b]!;
        rows[n] = i;
        c[n++] = pull * inverseNorm[i * K + k]!;
      }
      if (n === 0) continue;
      const sum = this.#products.sum(rows, c, n);
      for (let i = 0; i < d; i++) out[i]! += a[k * d + i]! * sum[i]!;
    }
  }

  /** theta o a_k for all k. */
  #weigh(theta: Float64Array): Float64Array {
    const d = this.#d;
    const a = this.#a;
    const out = this.#thetaA;
    for (let k = 0; k < this.#K; k++) {
      for (let i = 0; i < d; i++) out[k * d + i] = theta[i]! * a[k * d + i]!;
    }
    return out;
  }

  #makeRoom(size: number): void {
    this.#rows = new Int32Array(size);
    this.#c = new Float64Array(size);
  }
}
