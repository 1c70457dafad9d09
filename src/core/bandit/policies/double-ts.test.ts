import { describe, expect, it } from "vitest";
import { Random } from "../../random/random.ts";
import { argmax } from "../policy.ts";
import { beta, doubleThompson, doubleTs } from "./double-ts.ts";
import { at, candidates, K, pool, randomDuels, taught, valuesAt } from "./votes.case.ts";

/**
 * Algorithm 1 of the paper, line by line on a matrix. Beta numbers are drawn in its order:
 * theta_ij for i < j, then theta_i,a1 for i in order. Ties are broken as in `argmax`.
 */
function algorithm1(B: number[][], t: number, alpha: number, random: Random): [number, number] {
  const n = B.length;
  const all = [...B.keys()];
  const U = all.map((i) => all.map((j) => bound(i, j, 1)));
  const L = all.map((i) => all.map((j) => bound(i, j, -1)));
  function bound(i: number, j: number, sign: number): number {
    const duels = B[i]![j]! + B[j]![i]!;
    if (i === j) return 0.5;
    if (duels === 0) return 1 + sign;
    return B[i]![j]! / duels + sign * Math.sqrt((alpha * Math.log(t)) / duels);
  }
  const zeta = all.map((i) => all.filter((j) => j !== i && U[i]![j]! > 0.5).length / (n - 1));
  const C = all.filter((i) => zeta[i] === Math.max(...zeta));
  const theta = all.map(() => all.map(() => 0.5));
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      theta[i]![j] = beta(B[i]![j]! + 1, B[j]![i]! + 1, random);
      theta[j]![i] = 1 - theta[i]![j]!;
    }
  }
  const score = (i: number) => all.filter((j) => j !== i && theta[i]![j]! > 0.5).length;
  const a1 = argmax(C, score, random);
  const uncertain = all.filter((i) => L[i]![a1]! <= 0.5);
  const sample = (i: number) => (i === a1 ? 0.5 : beta(B[i]![a1]! + 1, B[a1]![i]! + 1, random));
  return [a1, argmax(uncertain, sample, random)];
}

describe("doubleThompson", () => {
  it("follows Algorithm 1 with the same draws", () => {
    const pairs = new Set<string>();
    for (let seed = 0; seed < 300; seed++) {
      const random = Random.seeded(seed).split("counts");
      const most = [0, 3, 30, 300][seed % 4]!;
      const B = candidates.map((i) =>
        candidates.map((j) => (i === j ? 0 : random.integer(1 + most * (i < j ? 2 : 1)))),
      );
      const t = 1 + B.flat().reduce((sum, count) => sum + count, 0);
      const none = new Float64Array(K);
      const flat = Float64Array.from(B.flat());
      const pair = doubleThompson(flat, candidates, none, 0.51, Random.seeded(seed));
      expect(pair).toEqual(algorithm1(B, t, 0.51, Random.seeded(seed)));
      pairs.add(pair.join());
    }
    expect(pairs.size).toBeGreaterThan(6);
  });

  it("plays no duel once a winner is certain", () => {
    const B = Float64Array.from({ length: 9 }, (_, at) => (Math.floor(at / 3) < at % 3 ? 1000 : 0));
    for (let seed = 0; seed < 20; seed++) {
      const pair = doubleThompson(B, [0, 1, 2], new Float64Array(3), 0.51, Random.seeded(seed));
      expect(pair).toEqual([0, 0]);
    }
  });

  it("prefers the loser if the penalty of the winner outweighs its wins", () => {
    const B = Float64Array.of(0, 900, 100, 0); // the logit of 0 against 1 is log 9 = 2.2
    const choose = (penalty: number) =>
      doubleThompson(B, [0, 1], Float64Array.of(penalty, 0), 0.51, Random.seeded(1))[0];
    expect(choose(1.8)).toBe(0);
    expect(choose(2.6)).toBe(1);
  });
});

describe("beta", () => {
  it.each([
    [1, 1],
    [3, 1.5],
    [40, 7],
  ])("has the mean and variance of Beta(%d, %d)", (a, b) => {
    const random = Random.seeded(5);
    const n = 20_000;
    const draws = Array.from({ length: n }, () => beta(a, b, random));
    const mean = draws.reduce((sum, x) => sum + x, 0) / n;
    const variance = draws.reduce((sum, x) => sum + (x - mean) ** 2, 0) / n;
    const expected = (a * b) / ((a + b) ** 2 * (a + b + 1));
    expect(Math.abs(mean - a / (a + b))).toBeLessThan(4 * Math.sqrt(expected / n));
    expect(variance / expected).toBeGreaterThan(0.95);
    expect(variance / expected).toBeLessThan(1.05);
  });
});

describe("double-ts", () => {
  it("counts votes in the nearest category only", () => {
    const votes = randomDuels(60, 1).filter((_, t) => at(t).m === 0);
    const policy = taught(doubleTs, votes);
    expect([...valuesAt(policy, pool.centroids[1]!)]).toEqual(new Array(K).fill(0));
    expect(valuesAt(policy, pool.centroids[0]!).some((value) => value !== 0)).toBe(true);
  });

  it("starts from the told scores, more strongly with a larger prior", () => {
    const told = pool.told!.map((row) => row[0]!);
    const order = (values: ArrayLike<number>) =>
      candidates.toSorted((i, j) => values[j]! - values[i]!);
    const spread = (prior: number) => {
      const values = valuesAt(taught(doubleTs, [], { prior }), pool.centroids[0]!);
      expect(order(values)).toEqual(order(told));
      return Math.max(...values) - Math.min(...values);
    };
    expect(spread(20)).toBeGreaterThan(spread(5));
  });
});
