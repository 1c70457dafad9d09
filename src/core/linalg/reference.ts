/** A simple version of each kernel of linalg.ts, with one loop per index and one accumulator, for tests. */

export function dot(a: Float64Array, b: Float64Array): number {
  return dotAt(a, 0, b, 0, a.length);
}

export function dotAt(a: Float64Array, i: number, b: Float64Array, j: number, n: number): number {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += a[i + k]! * b[j + k]!;
  return sum;
}

export function norm(a: Float64Array): number {
  return Math.hypot(...a);
}

export function axpy(alpha: number, x: Float64Array, y: Float64Array): void {
  x.forEach((value, i) => {
    y[i] = y[i]! + alpha * value;
  });
}

export function normalized(a: Float64Array): Float64Array {
  return norm(a) === 0 ? a.slice() : a.map((value) => value / norm(a));
}

export function mean(vectors: readonly Float64Array[]): Float64Array {
  const columns = vectors[0] ?? new Float64Array(0);
  return columns.map((_, i) => vectors.reduce((sum, v) => sum + v[i]!, 0) / vectors.length);
}

export function multiply(A: Float64Array, v: Float64Array, out: Float64Array): void {
  out.set(product(A, v, v.length, v.length, 1));
}

export function rankOne(A: Float64Array, alpha: number, u: Float64Array): void {
  const outer = product(u, u, u.length, 1, u.length);
  axpy(alpha, outer, A);
}

export function quadraticForm(A: Float64Array, v: Float64Array): number {
  const n = v.length;
  return product(product(v, A, 1, n, n), v, 1, n, 1)[0]!;
}

export function normIn(A: Float64Array, v: Float64Array): number {
  const n = v.length;
  return Math.sqrt(Math.max(0, product(product(v, A, 1, n, n), v, 1, n, 1)[0]!));
}

export function gram(Phi: Float64Array, K: number, S: Float64Array, d: number): Float64Array {
  return product(product(Phi, S, K, d, d), transpose(Phi, K, d), K, d, K);
}

/** Column by column (Cholesky-Crout), without jitter. */
export function cholesky(A: Float64Array, n: number): Float64Array {
  const L = new Float64Array(n * n);
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let rest = A[i * n + j]!;
      for (let k = 0; k < j; k++) rest -= L[i * n + k]! * L[j * n + k]!;
      L[i * n + j] = i === j ? Math.sqrt(rest) : rest / L[j * n + j]!;
    }
  }
  return L;
}

/** Gauss-Jordan elimination with row pivoting. */
export function inverse(A: Float64Array, n: number): Float64Array {
  const rows = Array.from({ length: n }, (_, i) => [
    ...A.subarray(i * n, (i + 1) * n),
    ...Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)),
  ]);
  for (let column = 0; column < n; column++) {
    const rest = rows.slice(column).map((row) => Math.abs(row[column]!));
    const pivot = column + rest.indexOf(Math.max(...rest));
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    const scale = rows[column]![column]!;
    rows[column] = rows[column]!.map((value) => value / scale);
    for (let i = 0; i < n; i++) {
      const factor = rows[i]![column]!;
      if (i !== column) rows[i] = rows[i]!.map((value, j) => value - factor * rows[column]![j]!);
    }
  }
  return Float64Array.from(rows.flatMap((row) => row.slice(n)));
}

/** Returns A B, where A is p x q and B is q x r. */
export function product(
  A: Float64Array,
  B: Float64Array,
  p: number,
  q: number,
  r: number,
): Float64Array {
  const out = new Float64Array(p * r);
  for (let i = 0; i < p; i++) {
    for (let j = 0; j < r; j++) {
      for (let k = 0; k < q; k++) out[i * r + j]! += A[i * q + k]! * B[k * r + j]!;
    }
  }
  return out;
}

/** Returns A^T, where A is p x q. */
export function transpose(A: Float64Array, p: number, q: number): Float64Array {
  return Float64Array.from({ length: p * q }, (_, at) => A[(at % p) * q + Math.floor(at / p)]!);
}
