import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { scoreErrors } from "./score-errors.ts";

/** Queries of a category: a difficulty for all models, and noise of each model. */
function queries(random: Random, n: number, difficulty: number, noise: number): Float64Array[] {
  return Array.from({ length: n }, () => {
    const common = difficulty * random.normal();
    return Float64Array.from({ length: 5 }, () => 0.5 + common + noise * random.normal());
  });
}

describe("scoreErrors", () => {
  it("is the standard error of the mean, without the difficulty of the queries", () => {
    const random = Random.seeded(1);
    const errors = scoreErrors([queries(random, 100, 0.5, 0.2), queries(random, 400, 0.5, 0.2)]);
    expect(errors).toHaveLength(5);
    expect(errors[0]![0]).toBeCloseTo(0.02, 2);
    expect(errors[0]![0]! / errors[0]![1]!).toBeCloseTo(2, 0);
  });

  it("a category with few queries borrows from the others", () => {
    const random = Random.seeded(2);
    const few = [0, 1].map(() => new Float64Array(5).fill(1));
    const [row] = scoreErrors([few, queries(random, 200, 0, 0.3)]);
    expect(row![0]).toBeGreaterThan(0.1);
  });

  it("assumes the largest variance if no category has two queries", () => {
    const [row] = scoreErrors([[Float64Array.of(1, 0)], [Float64Array.of(0, 0)]]);
    expect([...row!]).toEqual([0.5, 0.5]);
  });
});
