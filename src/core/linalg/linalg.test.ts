import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import * as fast from "./linalg.ts";
import * as slow from "./reference.ts";

const RUNS = { seed: 1, numRuns: 200 };
const EPS = Number.EPSILON;

/** Vectors of equal length, from 0 to 11, for every remainder of the loop that is unrolled by four. */
const vectors = (count: number) =>
  fc.nat(11).chain((n) => fc.tuple(...Array.from({ length: count }, () => vector(n))));
const vector = (n: number) =>
  fc.float64Array({ min: -1e3, max: 1e3, noNaN: true, minLength: n, maxLength: n });
const real = fc.double({ min: -1e3, max: 1e3, noNaN: true });

describe("against the reference", () => {
  it("dot, within n rounding errors of the terms", () => {
    fc.assert(
      fc.property(vectors(2), ([a, b]) => {
        near(fast.dot(a!, b!), slow.dot(a!, b!), sizeOf(a!, b!));
      }),
      RUNS,
    );
  });

  it("dotAt, for any offset and length", () => {
    const stretch = fc.tuple(vector(16), vector(16), fc.nat(4), fc.nat(4), fc.nat(12));
    fc.assert(
      fc.property(stretch, ([a, b, i, j, n]) => {
        const size = sizeOf(a.subarray(i, i + n), b.subarray(j, j + n));
        near(fast.dotAt(a, i, b, j, n), slow.dotAt(a, i, b, j, n), size);
      }),
      RUNS,
    );
  });

  it("norm and normalized", () => {
    fc.assert(
      fc.property(vectors(1), ([a]) => {
        // Squares of numbers below 1e-150 underflow; no relevant feature is that small.
        fc.pre(a!.every((value) => value === 0 || Math.abs(value) > 1e-150));
        near(fast.norm(a!), slow.norm(a!), slow.norm(a!));
        nearAll(fast.normalized(a!), slow.normalized(a!), 1);
        expect(fast.normalized(a!)).not.toBe(a);
      }),
      RUNS,
    );
    expect([...fast.normalized(new Float64Array(3))]).toEqual([0, 0, 0]);
  });

  it("axpy, to the last bit", () => {
    fc.assert(
      fc.property(vectors(2), real, ([x, y], alpha) => {
        const expected = y!.slice();
        slow.axpy(alpha, x!, expected);
        fast.axpy(alpha, x!, y!);
        expect(y).toEqual(expected);
      }),
      RUNS,
    );
  });

  it("mean, also of no vectors", () => {
    fc.assert(
      fc.property(vectors(5), (rows) => nearAll(fast.mean(rows), slow.mean(rows), 1e3)),
      RUNS,
    );
    expect(fast.mean([])).toHaveLength(0);
  });

  it("multiply, normIn and gram", () => {
    for (const n of [1, 2, 3, 5, 8, 13]) {
      const random = Random.seeded(n);
      const S = definite(n, random);
      const v = normals(n, random);
      const expected = new Float64Array(n);
      const actual = new Float64Array(n);
      slow.multiply(S, v, expected);
      fast.multiply(S, v, actual);
      nearAll(actual, expected, n * fast.norm(S) * fast.norm(v));
      near(
        fast.quadraticForm(S, v),
        slow.quadraticForm(S, v),
        n * fast.norm(S) * fast.norm(v) ** 2,
      );
      near(fast.normIn(S, v), slow.normIn(S, v), n * fast.norm(S) * fast.norm(v));
      const K = 4;
      const Phi = normals(K * n, random);
      const G = fast.gram(Phi, K, S, n);
      nearAll(G, slow.gram(Phi, K, S, n), n * fast.norm(S) * fast.norm(Phi) ** 2);
      expect(G).toEqual(slow.transpose(G, K, K));
    }
  });

  it("normIn is 0 if rounding makes the form negative", () => {
    expect(fast.normIn(Float64Array.of(-1e-18), Float64Array.of(1))).toBe(0);
  });

  it("rankOne, and it keeps symmetry to the last bit", () => {
    for (const n of [1, 2, 3, 7, 12, 127, 128]) {
      const random = Random.seeded(n);
      const A = n < 100 ? definite(n, random) : new Float64Array(n * n);
      for (let i = 0; i < (n < 100 ? 50 : 2); i++) {
        const u = normals(n, random);
        if (i % 5 === 0) u[random.integer(n)] = 0;
        const expected = A.slice();
        slow.rankOne(expected, 0.1, u);
        fast.rankOne(A, 0.1, u);
        expect(farthest(A, expected)).toBeLessThan(16 * EPS * fast.norm(A));
        expect(A).toEqual(slow.transpose(A, n, n));
      }
    }
  });

  it("cholesky and inverse", () => {
    for (const n of [1, 2, 3, 6, 10]) {
      const A = definite(n, Random.seeded(n));
      const condition = fast.norm(A) * fast.norm(slow.inverse(A, n));
      nearAll(fast.cholesky(A, n), slow.cholesky(A, n), condition);
      const inverse = fast.inverse(A, n);
      nearAll(inverse, slow.inverse(A, n), condition * fast.norm(inverse));
      expect(inverse).toEqual(slow.transpose(inverse, n, n));
    }
  });
});

describe("cholesky", () => {
  it.each([1, 2, 5, 20])("L L^T = A with L lower triangular, n = %d", (n) => {
    const A = definite(n, Random.seeded(n));
    const L = fast.cholesky(A, n);
    nearAll(slow.product(L, slow.transpose(L, n, n), n, n, n), A, n * fast.norm(A));
    for (let i = 0; i < n; i++) {
      expect(L[i * n + i]).toBeGreaterThan(0);
      for (let j = i + 1; j < n; j++) expect(L[i * n + j]).toBe(0);
    }
  });

  it.each([1e-12, 1, 1e12])(
    "factors a semi-definite matrix of scale %d, off by 1e-9 of it",
    (c) => {
      const n = 6;
      const B = normals(n * 2, Random.seeded(1)).map((value) => value * Math.sqrt(c));
      const A = slow.product(B, slow.transpose(B, n, 2), n, 2, n); // rank 2
      const L = fast.cholesky(A, n);
      const back = slow.product(L, slow.transpose(L, n, n), n, n, n);
      const worst = Math.max(...back.map((value, i) => Math.abs(value - A[i]!)));
      expect(worst).toBeLessThan(1e-9 * fast.norm(A));
      expect(L.every(Number.isFinite)).toBe(true);
    },
  );

  it("accepts the zero matrix and the empty one", () => {
    expect(fast.cholesky(new Float64Array(9), 3).every(Number.isFinite)).toBe(true);
    expect(fast.cholesky(new Float64Array(0), 0)).toHaveLength(0);
  });

  it.each([
    ["negative", [-1]],
    ["indefinite", [1, 2, 2, 1]],
    ["slightly indefinite", [1, 1.001, 1.001, 1]],
    ["NaN on the diagonal", [1, 0, 0, Number.NaN]],
    ["NaN beside it", [1, Number.NaN, Number.NaN, 1]],
    ["infinite", [Infinity, 0, 0, 1]],
    ["infinite and negative", [Infinity, 0, 0, -1]],
  ])("refuses a matrix that is %s", (_, entries) => {
    const A = Float64Array.from(entries);
    expect(() => fast.cholesky(A, Math.sqrt(A.length))).toThrow(/positive semi-definite/);
    expect(() => fast.inverse(A, Math.sqrt(A.length))).toThrow(/positive semi-definite/);
  });
});

describe("inverse", () => {
  it.each([1, 2, 5, 20])("A inverse(A) = I, n = %d", (n) => {
    const A = definite(n, Random.seeded(n + 100));
    const inverse = fast.inverse(A, n);
    const identity = Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0));
    nearAll(slow.product(A, inverse, n, n, n), identity, n * fast.norm(A) * fast.norm(inverse));
  });
});

/** Checks for equality up to 16 rounding errors of numbers of the given size. */
function near(actual: number, expected: number, size: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(16 * EPS * size);
}

function nearAll(actual: Float64Array, expected: Float64Array, size: number): void {
  expect(actual).toHaveLength(expected.length);
  expect(farthest(actual, expected)).toBeLessThanOrEqual(16 * EPS * size);
}

function farthest(a: Float64Array, b: Float64Array): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

/** sum |a_i b_i| */
function sizeOf(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, i) => sum + Math.abs(value * b[i]!), 0);
}

function normals(n: number, random: Random): Float64Array {
  return Float64Array.from({ length: n }, () => random.normal());
}

/** B B^T + I / 10, exactly symmetric. */
function definite(n: number, random: Random): Float64Array {
  const B = normals(n * n, random);
  const A = slow.product(B, slow.transpose(B, n, n), n, n, n);
  for (let i = 0; i < n; i++) A[i * n + i]! += 0.1;
  return A;
}
