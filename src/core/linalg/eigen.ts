import { dotAt } from "./linalg.ts";

export interface Eigen {
  /** Largest first. */
  readonly values: Float64Array;
  /** Row i is the eigenvector of values[i]. It has length 1, and its largest component is positive. */
  readonly vectors: Float64Array;
}

/**
 * Computes eigenvalues and eigenvectors of a symmetric positive semi-definite matrix
 * (n x n) by one-sided Jacobi rotations (Hestenes 1958): pairs of rows of B = A are
 * rotated until all rows are orthogonal. Then B = J A has B B^T = diag(s^2) and
 * B^T B = A^2, so row i is s_i v_i^T. Only rows are read, and only + - * / sqrt are used,
 * so the bits are the same on every machine. 384 x 384 takes seconds.
 */
export function symmetricEigen(A: Float64Array, n: number): Eigen {
  const B = A.slice();
  for (let sweep = 0; rotateAll(B, n); sweep++) {
    if (sweep === MAX_SWEEPS) {
      throw new RangeError("symmetricEigen does not converge: the matrix is not finite");
    }
  }
  const lengths = Float64Array.from({ length: n }, (_, i) =>
    Math.sqrt(dotAt(B, i * n, B, i * n, n)),
  );
  const order = [...lengths.keys()].sort((i, j) => lengths[j]! - lengths[i]! || i - j);
  const vectors = new Float64Array(n * n);
  order.forEach((from, to) => {
    const row = B.subarray(from * n, (from + 1) * n);
    const scale = largest(row) < 0 ? -lengths[from]! : lengths[from]!;
    for (let k = 0; k < n; k++) vectors[to * n + k] = row[k]! / (scale || 1);
  });
  return { values: Float64Array.from(order, (i) => lengths[i]!), vectors };
}

/** Convergence is quadratic: 6 to 10 sweeps are usual. */
const MAX_SWEEPS = 60;
/** Rows count as orthogonal if their cosine is below this. */
const TOLERANCE = 1e-14;

/** Makes one sweep over all pairs of rows, and returns whether one had to be rotated. */
function rotateAll(B: Float64Array, n: number): boolean {
  let rotated = false;
  for (let p = 0; p < n; p++) {
    for (let q = p + 1; q < n; q++) {
      const a = dotAt(B, p * n, B, p * n, n);
      const b = dotAt(B, q * n, B, q * n, n);
      const c = dotAt(B, p * n, B, q * n, n);
      if (!(Math.abs(c) <= TOLERANCE * Math.sqrt(a * b))) {
        rotate(B, p * n, q * n, n, a, b, c);
        rotated = true;
      }
    }
  }
  return rotated;
}

/** Applies the rotation that makes c = <p, q> zero: t is the smaller root of t^2 + 2 zeta t - 1 = 0. */
function rotate(
  B: Float64Array,
  p: number,
  q: number,
  n: number,
  a: number,
  b: number,
  c: number,
): void {
  const zeta = (b - a) / (2 * c);
  const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta));
  const cosine = 1 / Math.sqrt(1 + t * t);
  const sine = cosine * t;
  for (let k = 0; k < n; k++) {
    const x = B[p + k]!;
    const y = B[q + k]!;
    B[p + k] = cosine * x - sine * y;
    B[q + k] = sine * x + cosine * y;
  }
}

/** Returns the component with the largest absolute value, or the first of them if several are equal. */
function largest(row: Float64Array): number {
  return row.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
}
