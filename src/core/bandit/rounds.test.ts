import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { createFeatures, FEATURE_DEFAULTS } from "./features.ts";
import { GrowingRows, HadamardPast, StoredPast } from "./past-features.ts";
import type { Pool } from "./policy.ts";
import { createRounds, Rounds } from "./rounds.ts";

describe("HadamardPast computes the same as StoredPast", () => {
  // Odd and even sizes, because the kernels process several rows at a time.
  it.each([
    [1, 1, "none"],
    [2, 4, "none"],
    [3, 5, "none"],
    [5, 12, "none"],
    [10, 31, "none"],
    [3, 5, "raw"],
    [10, 31, "raw"],
    [4, 6, "scaled"],
  ])("for %d models in %d dimensions, metadata %s", (K, size, metadata) => {
    const { fast, obvious, random } = twins(K, size, 11, metadata);
    const d = fast.dimension;
    const theta = vector(d, random);
    for (const batch of [[], [3], [7, 2], [0, 1, 2], [9, 4, 4, 10, 6], [...Array(11).keys()]]) {
      const rounds = Int32Array.from(batch);
      const size = batch.length * K;
      const scores = [new Float64Array(size), new Float64Array(size)] as const;
      fast.phi.scores(theta, rounds, scores[0]);
      obvious.phi.scores(theta, rounds, scores[1]);
      expectClose(scores[0], scores[1]);

      const C = vector(size, random).map((value, i) => (i % 3 === 0 ? 0 : value));
      const sums = [vector(d, Random.seeded(1)), vector(d, Random.seeded(1))] as const;
      fast.phi.addTransposed(C, rounds, sums[0]);
      obvious.phi.addTransposed(C, rounds, sums[1]);
      expectClose(sums[0], sums[1]);
    }
  });

  it("is used with hadamard features only", () => {
    const pool = poolOf(3, 4, Random.seeded(2));
    const kind = (features: string) => {
      const options = { ...FEATURE_DEFAULTS, features };
      const made = createFeatures(pool, options);
      return createRounds(pool, made, options, made.priorSd).phi;
    };
    expect(kind("hadamard")).toBeInstanceOf(HadamardPast);
    expect(kind("addition")).toBeInstanceOf(StoredPast);
    expect(kind("category")).toBeInstanceOf(StoredPast);
  });
});

describe("scores and addTransposed", () => {
  it("are a map and its transpose: <C, Phi theta> = <Phi^T C, theta>", () => {
    const { fast, random } = twins(4, 6, 8);
    const batch = Int32Array.of(1, 5, 2);
    const theta = vector(6, random);
    const C = vector(12, random);
    const scores = new Float64Array(12);
    const spread = new Float64Array(6);
    fast.phi.scores(theta, batch, scores);
    fast.phi.addTransposed(C, batch, spread);
    const inner = (p: Float64Array, q: Float64Array) => p.reduce((sum, v, i) => sum + v * q[i]!, 0);
    expect(inner(C, scores)).toBeCloseTo(inner(spread, theta), 12);
  });

  it("are 0 for a query of zeros", () => {
    const { fast } = twins(3, 4, 0);
    fast.add(new Float64Array(4), { a: 0, b: 1, win: 1, weight: 1 });
    const scores = new Float64Array(3).fill(9);
    fast.phi.scores(Float64Array.of(1, 2, 3, 4), Int32Array.of(0), scores);
    expect([...scores]).toEqual([0, 0, 0]);
    expect(fast.information).toBe(0);
  });
});

describe("GrowingRows", () => {
  it("keeps its rows when it grows", () => {
    const table = new GrowingRows(2);
    for (let i = 0; i < 200; i++) table.push([i, -i]);
    for (let i = 0; i < 200; i++) expect([...table.row(i)]).toEqual([i, -i]);
    expect(table.slice().length).toBe(400);
  });

  it("rejects a row of another width", () => {
    expect(() => new GrowingRows(2).push([1])).toThrow(
      "the row has 1 numbers, the other rows have 2",
    );
  });
});

/** Stores the same t rounds in both ways. */
function twins(K: number, d: number, t: number, metadata = "none") {
  const random = Random.seeded(K * 100 + d);
  const pool = poolOf(K, d, random);
  const options = { ...FEATURE_DEFAULTS, metadata };
  const features = createFeatures(pool, options);
  const sd = features.priorSd;
  const fast = createRounds(pool, features, options, sd);
  const stored = new StoredPast(K, features.dimension);
  const obvious = new Rounds(features, stored, new GrowingRows(d), sd);
  for (let i = 0; i < t; i++) {
    const x = vector(d, random);
    const vote = { a: i % K, b: (i + 1) % K, win: 1, weight: 1 };
    fast.add(x, vote);
    obvious.add(x, vote);
  }
  return { fast, obvious, random };
}

function poolOf(K: number, d: number, random: Random): Pool {
  return {
    models: Array.from({ length: K }, (_, k) => `model ${k}`),
    categories: ["law", "code"],
    centroids: [vector(d, random), vector(d, random)],
    told: Array.from({ length: K }, () => vector(2, random)),
  };
}

function vector(size: number, random: Random): Float64Array {
  return Float64Array.from({ length: size }, () => random.normal());
}

function expectClose(found: Float64Array, expected: Float64Array): void {
  expect(found.length).toBe(expected.length);
  found.forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i]!, 12);
  });
}
