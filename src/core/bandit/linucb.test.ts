import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { Ridge, rewardsOf } from "./linucb.ts";
import type { Feedback } from "./policy.ts";

describe("Ridge", () => {
  const d = 4;
  const random = Random.seeded(1);
  const vector = () => Float64Array.from({ length: d }, () => random.normal());

  it("has theta = A^-1 b and sqrt(x A^-1 x) of directly summed A and b", () => {
    const lambda = 1.5;
    const ridge = new Ridge(d, lambda);
    const A = Array.from({ length: d }, (_, i) => {
      return Array.from({ length: d }, (_, j) => (i === j ? lambda : 0));
    });
    const b = new Array<number>(d).fill(0);
    for (let t = 0; t < 30; t++) {
      const x = vector();
      const reward = random.normal();
      const weight = random.uniform();
      ridge.update(x, reward, weight);
      for (let i = 0; i < d; i++) {
        b[i]! += weight * reward * x[i]!;
        for (let j = 0; j < d; j++) A[i]![j]! += weight * x[i]! * x[j]!;
      }
    }
    const x = vector();
    const theta = solve(A, b);
    const u = solve(A, [...x]);
    expect(ridge.mean(x)).toBeCloseTo(dot(theta, x), 10);
    expect(ridge.width(x)).toBeCloseTo(Math.sqrt(dot(u, x)), 10);
  });
});

describe("rewardsOf", () => {
  const x = new Float64Array(2);
  const rewards = (feedback: Feedback) =>
    rewardsOf(feedback).map(({ model, reward }) => [model, reward]);

  it("likes the winner and dislikes the loser", () => {
    const duel = { kind: "duel", x, pair: [3, 1] } as const;
    expect(rewards({ ...duel, outcome: "a" })).toEqual([
      [3, 1],
      [1, 0],
    ]);
    expect(rewards({ ...duel, outcome: "b" })).toEqual([
      [3, 0],
      [1, 1],
    ]);
    expect(rewards({ ...duel, outcome: "tie" })).toEqual([
      [3, 0.5],
      [1, 0.5],
    ]);
    expect(rewards({ ...duel, outcome: "both_bad" })).toEqual([
      [3, 0],
      [1, 0],
    ]);
    expect(rewards({ ...duel, pair: [1, 1], outcome: "a" })).toEqual([]);
  });

  it("takes a rating as it is, and a ranking as its comparisons", () => {
    expect(rewards({ kind: "rating", x, model: 2, rating: -1 })).toEqual([[2, 0]]);
    expect(rewards({ kind: "rating", x, model: 2, rating: 0.5 })).toEqual([[2, 0.75]]);
    const ranking = rewards({ kind: "ranking", x, order: [2, 0, 1] });
    const total = (model: number) =>
      ranking.filter(([k]) => k === model).reduce((sum, [, reward]) => sum + reward!, 0);
    expect([0, 1, 2].map(total)).toEqual([1, 0, 2]);
  });

  it("passes the weight on", () => {
    const feedback = { kind: "rating", x, model: 0, rating: 1, weight: 0.3 } as const;
    expect(rewardsOf(feedback)[0]!.weight).toBe(0.3);
  });
});

function dot(p: ArrayLike<number>, q: ArrayLike<number>): number {
  return Array.from(p).reduce((sum, value, i) => sum + value * q[i]!, 0);
}

/** Computes A^-1 b by Gauss-Jordan elimination. */
function solve(A: readonly number[][], b: readonly number[]): number[] {
  const rows = A.map((row, i) => [...row, b[i]!]);
  for (let i = 0; i < rows.length; i++) {
    const pivot = rows[i]!.map((value) => value / rows[i]![i]!);
    rows.forEach((row, r) => {
      rows[r] = r === i ? pivot : row.map((value, c) => value - row[i]! * pivot[c]!);
    });
  }
  return rows.map((row) => row.at(-1)!);
}
