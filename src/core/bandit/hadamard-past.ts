import { norm } from "../linalg/linalg.ts";
import { GrowingRows } from "./growing-rows.ts";
import type { PastFeatures } from "./rounds.ts";

/**
 * Hot corner. phi(x, a) = (x o a) / |x o a| needs x and K inverse norms a round
 * instead of K x d numbers:
 *
 *   <theta, phi(x_i, a_k)> = x_i . (theta o a_k) / |x_i o a_k|
 *
 * so the scores of a batch are one product of its x (B x d) with theta o a
 * (K x d), and the transposed map is sum_k a_k o (sum_b C_bk / |x_i o a_k| x_i).
 */
export class HadamardPast implements PastFeatures {
  readonly #K: number;
  readonly #d: number;
  readonly #x: GrowingRows;
  readonly #a: Float64Array;
  readonly #inverseNorm: GrowingRows;
  readonly #thetaA: Float64Array;
  readonly #sum: Float64Array;
  #at = new Int32Array(0);
  #c = new Float64Array(0);

  constructor(a: readonly Float64Array[], x: GrowingRows) {
    this.#K = a.length;
    this.#d = x.width;
    this.#x = x;
    this.#a = new Float64Array(this.#K * this.#d);
    a.forEach((row, k) => {
      this.#a.set(row, k * this.#d);
    });
    this.#inverseNorm = new GrowingRows(this.#K);
    this.#thetaA = new Float64Array(this.#K * this.#d);
    this.#sum = new Float64Array(this.#d);
  }

  push(): void {
    const x = this.#x.row(this.#x.length - 1);
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
    timesTransposed(this.#x.data, batch, this.#weigh(theta), K, this.#d, out);
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

  spread(C: Float64Array, batch: Int32Array, out: Float64Array): void {
    const K = this.#K;
    const d = this.#d;
    const x = this.#x.data;
    const a = this.#a;
    const inverseNorm = this.#inverseNorm.data;
    const sum = this.#sum;
    if (this.#at.length < batch.length + 3) this.#makeRoom(batch.length + 3);
    const at = this.#at;
    const c = this.#c;
    for (let k = 0; k < K; k++) {
      let n = 0;
      for (let b = 0; b < batch.length; b++) {
        const pull = C[b * K + k]!;
        if (pull === 0) continue;
        const i = batch[b]!;
        at[n] = i * d;
        c[n++] = pull * inverseNorm[i * K + k]!;
      }
      if (n === 0) continue;
      c[n] = c[n + 1] = c[n + 2] = 0;
      sum.fill(0);
      for (let r = 0; r < n; r += 4) addFour(x, at, c, r, sum);
      for (let i = 0; i < d; i++) out[i]! += a[k * d + i]! * sum[i]!;
    }
  }

  /** theta o a_k for all k */
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
    this.#at = new Int32Array(size);
    this.#c = new Float64Array(size);
  }
}

/**
 * out[b, k] <- X[batch[b]] . W[k], rows of d numbers. Four rounds by two models
 * at a time: six loads serve eight products, which takes a third of the time of
 * one dot product after another. Where rows run out, the last is taken again.
 */
function timesTransposed(
  X: Float64Array,
  batch: Int32Array,
  W: Float64Array,
  K: number,
  d: number,
  out: Float64Array,
): void {
  const last = batch.length - 1;
  for (let b0 = 0; b0 <= last; b0 += 4) {
    const b1 = Math.min(b0 + 1, last);
    const b2 = Math.min(b0 + 2, last);
    const b3 = Math.min(b0 + 3, last);
    const x0 = batch[b0]! * d;
    const x1 = batch[b1]! * d;
    const x2 = batch[b2]! * d;
    const x3 = batch[b3]! * d;
    for (let k = 0; k < K; k += 2) {
      const l = Math.min(k + 1, K - 1);
      const wk = k * d;
      const wl = l * d;
      let k0 = 0;
      let k1 = 0;
      let k2 = 0;
      let k3 = 0;
      let l0 = 0;
      let l1 = 0;
      let l2 = 0;
      let l3 = 0;
      for (let i = 0; i < d; i++) {
        const vk = W[wk + i]!;
        const vl = W[wl + i]!;
        const v0 = X[x0 + i]!;
        const v1 = X[x1 + i]!;
        const v2 = X[x2 + i]!;
        const v3 = X[x3 + i]!;
        k0 += v0 * vk;
        k1 += v1 * vk;
        k2 += v2 * vk;
        k3 += v3 * vk;
        l0 += v0 * vl;
        l1 += v1 * vl;
        l2 += v2 * vl;
        l3 += v3 * vl;
      }
      out[b0 * K + k] = k0;
      out[b1 * K + k] = k1;
      out[b2 * K + k] = k2;
      out[b3 * K + k] = k3;
      out[b0 * K + l] = l0;
      out[b1 * K + l] = l1;
      out[b2 * K + l] = l2;
      out[b3 * K + l] = l3;
    }
  }
}

/** y <- y + the sum of c[r] X[at[r] ..] for r and the three after it: one pass over y for four. */
function addFour(
  X: Float64Array,
  at: Int32Array,
  c: Float64Array,
  r: number,
  y: Float64Array,
): void {
  const p = at[r]!;
  const q = at[r + 1]!;
  const s = at[r + 2]!;
  const t = at[r + 3]!;
  const cp = c[r]!;
  const cq = c[r + 1]!;
  const cs = c[r + 2]!;
  const ct = c[r + 3]!;
  for (let i = 0; i < y.length; i++) {
    y[i]! += cp * X[p + i]! + cq * X[q + i]! + (cs * X[s + i]! + ct * X[t + i]!);
  }
}
