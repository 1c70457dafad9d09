import { dotAt } from "../linalg/linalg.ts";
import { GrowingRows } from "./growing-rows.ts";

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
  /** Like `scores`, but only for the two models of each vote. Other entries keep their value. */
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
