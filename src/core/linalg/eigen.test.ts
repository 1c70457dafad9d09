import fc from "fast-check";
import { expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { symmetricEigen } from "./eigen.ts";
import { dotAt, multiply } from "./linalg.ts";

/** X^T X for a random m x n matrix X whose columns shrink by `decay` each. */
function covariance(m: number, n: number, decay: number, random: Random): Float64Array {
  const A = new Float64Array(n * n);
  for (let r = 0; r < m; r++) {
    const x = Float64Array.from({ length: n }, (_, j) => random.normal() * decay ** j);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) A[i * n + j]! += x[i]! * x[j]!;
  }
  return A;
}

const shapes = fc.record({
  n: fc.integer({ min: 1, max: 24 }),
  m: fc.integer({ min: 0, max: 40 }), // below n: the rank is deficient
  decay: fc.constantFrom(1, 0.9, 0.5),
  seed: fc.integer({ min: 0, max: 1e6 }),
});

it("A v = lambda v, the vectors are orthonormal, the values decrease and sum to the trace", () => {
  fc.assert(
    fc.property(shapes, ({ n, m, decay, seed }) => {
      const A = covariance(m, n, decay, Random.seeded(seed));
      const { values, vectors } = symmetricEigen(A, n);
      const unit = Math.max(values[0]!, 1e-300);
      const out = new Float64Array(n);
      let trace = 0;
      for (let i = 0; i < n; i++) {
        const v = vectors.subarray(i * n, (i + 1) * n);
        multiply(A, v, out);
        for (let k = 0; k < n; k++) {
          expect(Math.abs(out[k]! - values[i]! * v[k]!)).toBeLessThan(1e-13 * unit * n);
        }
        if (i > 0) expect(values[i]!).toBeLessThanOrEqual(values[i - 1]!);
        trace += A[i * n + i]!;
        // Eigenvalues below the rounding error of the largest have no defined direction.
        if (values[i]! < 1e-12 * unit) continue;
        for (let j = 0; j <= i; j++) {
          expect(dotAt(vectors, i * n, vectors, j * n, n)).toBeCloseTo(i === j ? 1 : 0, 10);
        }
        const largest = v.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a));
        expect(largest).toBeGreaterThan(0);
      }
      expect(Math.abs(values.reduce((sum, value) => sum + value, 0) - trace)).toBeLessThan(
        1e-12 * unit * n,
      );
    }),
    { seed: 1 },
  );
});

it("solves diag(1, 3, 2) and [[2, 1], [1, 2]]", () => {
  const diagonal = symmetricEigen(Float64Array.of(1, 0, 0, 0, 3, 0, 0, 0, 2), 3);
  expect([...diagonal.values]).toEqual([3, 2, 1]);
  expect([...diagonal.vectors]).toEqual([0, 1, 0, 0, 0, 1, 1, 0, 0]);
  const { values, vectors } = symmetricEigen(Float64Array.of(2, 1, 1, 2), 2);
  expect(values[0]).toBeCloseTo(3, 14);
  expect(values[1]).toBeCloseTo(1, 14);
  expect(vectors[0]).toBeCloseTo(Math.SQRT1_2, 14);
  expect(vectors[1]).toBeCloseTo(Math.SQRT1_2, 14);
  expect(vectors[2]! * vectors[3]!).toBeCloseTo(-0.5, 14);
});

it("ends with an error if the matrix is not finite", () => {
  expect(() => symmetricEigen(Float64Array.of(1, Number.NaN, Number.NaN, 1), 2)).toThrow(/finite/);
});
