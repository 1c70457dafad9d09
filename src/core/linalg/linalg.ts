/**
 * Dense kernels on Float64Array. reference.ts has a simple version of each, and
 * linalg.test.ts compares the two. Matrices are row-major; a symmetric matrix is stored
 * in full.
 *
 * Four accumulators hide the latency of the addition: in V8, a dot product of 400 numbers
 * takes about a third of the time of a loop with one accumulator. Call these with
 * Float64Array only: a call site that sees two array types becomes 3-4 times slower.
 */

export function dot(a: Float64Array, b: Float64Array): number {
  return dotAt(a, 0, b, 0, a.length);
}

/** Returns the dot product of a[i..i+n) and b[j..j+n). */
export function dotAt(a: Float64Array, i: number, b: Float64Array, j: number, n: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let k = 0;
  for (; k + 3 < n; k += 4) {
    s0 += a[i + k]! * b[j + k]!;
    s1 += a[i + k + 1]! * b[j + k + 1]!;
    s2 += a[i + k + 2]! * b[j + k + 2]!;
    s3 += a[i + k + 3]! * b[j + k + 3]!;
  }
  for (; k < n; k++) s0 += a[i + k]! * b[j + k]!;
  return s0 + s1 + (s2 + s3);
}

export function norm(a: Float64Array): number {
  return Math.sqrt(dot(a, a));
}

/** y <- y + alpha x */
export function axpy(alpha: number, x: Float64Array, y: Float64Array): void {
  for (let i = 0; i < y.length; i++) y[i]! += alpha * x[i]!;
}

/** Returns a / |a|, or a copy of a if |a| is 0. */
export function normalized(a: Float64Array): Float64Array {
  const length = norm(a);
  return length > 0 ? a.map((value) => value / length) : a.slice();
}

/** Returns the mean of vectors of equal length. */
export function mean(vectors: readonly Float64Array[]): Float64Array {
  const out = new Float64Array(vectors[0]?.length ?? 0);
  for (const vector of vectors) axpy(1 / vectors.length, vector, out);
  return out;
}

/** out <- A v, A n x n */
export function multiply(A: Float64Array, v: Float64Array, out: Float64Array): void {
  const n = v.length;
  for (let i = 0; i < n; i++) out[i] = dotAt(A, i * n, v, 0, n);
}

/**
 * A <- A + alpha u u^T for a symmetric A, which stays symmetric to the last bit. There are
 * two versions. Writing each product to both halves saves half of the products (5 us
 * instead of 7 at n = 71), but walks down a column, which misses the cache at the
 * dimensions of encoders: at 256, 384 and 768 it takes 240, 350 and 2200 us, and row by
 * row 80, 200 and 830 us.
 */
export function rankOne(A: Float64Array, alpha: number, u: Float64Array): void {
  if (u.length < 128) rankOneMirrored(A, alpha, u);
  else rankOneByRows(A, alpha, u);
}

function rankOneMirrored(A: Float64Array, alpha: number, u: Float64Array): void {
  const n = u.length;
  for (let i = 0; i < n; i++) {
    const scaled = alpha * u[i]!;
    if (scaled === 0) continue;
    const row = i * n;
    A[row + i]! += scaled * u[i]!;
    for (let j = 0; j < i; j++) {
      const value = A[row + j]! + scaled * u[j]!;
      A[row + j] = value;
      A[j * n + i] = value;
    }
  }
}

function rankOneByRows(A: Float64Array, alpha: number, u: Float64Array): void {
  const n = u.length;
  for (let i = 0; i < n; i++) {
    const ui = u[i]!;
    const row = i * n;
    // u_i u_j = u_j u_i exactly, so both halves get the same bits.
    for (let j = 0; j < n; j++) A[row + j]! += alpha * (ui * u[j]!);
  }
}

/** Returns v^T A v for a symmetric A, with half of the products, because each off-diagonal one occurs twice. */
export function quadraticForm(A: Float64Array, v: Float64Array): number {
  const n = v.length;
  let total = 0;
  for (let i = 0; i < n; i++) {
    const row = i * n;
    const below = i < 16 ? shortDot(A, row, v, i) : dotAt(A, row, v, 0, i);
    total += (below + 0.5 * A[row + i]! * v[i]!) * v[i]!;
  }
  return 2 * total;
}

/** A dot product with one accumulator, which is faster for a few numbers. */
function shortDot(A: Float64Array, row: number, v: Float64Array, n: number): number {
  let sum = 0;
  for (let j = 0; j < n; j++) sum += A[row + j]! * v[j]!;
  return sum;
}

/** Returns |v|_A = sqrt(v^T A v), or 0 if rounding makes the form negative. */
export function normIn(A: Float64Array, v: Float64Array): number {
  return Math.sqrt(Math.max(0, quadraticForm(A, v)));
}

/** Returns G = Phi S Phi^T for the K rows of Phi (K x d): the covariance of the K scores. */
export function gram(Phi: Float64Array, K: number, S: Float64Array, d: number): Float64Array {
  const G = new Float64Array(K * K);
  const u = new Float64Array(d);
  for (let i = 0; i < K; i++) {
    for (let r = 0; r < d; r++) u[r] = dotAt(S, r * d, Phi, i * d, d);
    for (let j = 0; j <= i; j++) {
      const value = dotAt(Phi, j * d, u, 0, d);
      G[i * K + j] = value;
      G[j * K + i] = value;
    }
  }
  return G;
}

/**
 * Returns L with L L^T = A + jitter I for a symmetric n x n matrix A. The jitter starts at
 * 0 and grows tenfold from 1e-12 of the mean diagonal until every pivot is positive, so
 * that a covariance that rounding has made semi-definite can be factored. A matrix that
 * needs more than 1e-6 is indefinite and causes an error.
 */
export function cholesky(A: Float64Array, n: number): Float64Array {
  let trace = 0;
  for (let i = 0; i < n; i++) trace += A[i * n + i]!;
  const unit = trace > 0 ? trace / n : 1;
  for (const jitter of JITTERS) {
    const L = tryCholesky(A, n, jitter * unit);
    if (L) return L;
  }
  throw new RangeError("cholesky: the matrix is not positive semi-definite or not finite");
}

const JITTERS = [0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6];

/** Returns L with L L^T = A + jitter I, or undefined if that matrix is not positive definite. */
export function tryCholesky(A: Float64Array, n: number, jitter = 0): Float64Array | undefined {
  const L = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      L[i * n + j] = (A[i * n + j]! - dotAt(L, i * n, L, j * n, j)) / L[j * n + j]!;
    }
    const pivot = A[i * n + i]! + jitter - dotAt(L, i * n, L, i * n, i);
    if (!(pivot > 0 && pivot < Infinity)) return undefined;
    L[i * n + i] = Math.sqrt(pivot);
  }
  return L;
}

/** Returns the inverse of a symmetric positive definite matrix, by its Cholesky factor. */
export function inverse(A: Float64Array, n: number): Float64Array {
  const L = cholesky(A, n);
  const out = new Float64Array(n * n);
  const y = new Float64Array(n);
  for (let column = 0; column < n; column++) {
    y.fill(0);
    for (let i = column; i < n; i++) {
      const rhs = i === column ? 1 : 0;
      y[i] = (rhs - dotAt(L, i * n, y, 0, i)) / L[i * n + i]!;
    }
    for (let i = n - 1; i >= 0; i--) {
      let sum = y[i]!;
      for (let j = i + 1; j < n; j++) sum -= L[j * n + i]! * y[j]!;
      y[i] = sum / L[i * n + i]!;
    }
    for (let i = 0; i <= column; i++) {
      out[i * n + column] = y[i]!;
      out[column * n + i] = y[i]!;
    }
  }
  return out;
}
