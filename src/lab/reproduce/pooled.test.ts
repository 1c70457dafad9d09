import { describe, expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { meanInterval } from "../../core/statistics.ts";
import { pooledInterval } from "./pooled.ts";

/** True differences of 24 cells, as unequal as those of vote scales 1, 3 and 10. */
const CELLS = Array.from({ length: 24 }, (_, c) => -3 * (c % 3) - 0.25 * c);
const TRUTH = CELLS.reduce((sum, value) => sum + value, 0) / CELLS.length;

/** Cells that share an error per run (sd 4) in addition to their own (sd 3), with `runs(c)` runs in cell c. */
function draw(runs: (c: number) => number, random: Random): number[][] {
  const shared = Array.from({ length: 100 }, () => 4 * random.normal());
  return CELLS.map((truth, c) =>
    Array.from({ length: runs(c) }, (_, r) => truth + shared[r]! + 3 * random.normal()),
  );
}

/** Share of repeated experiments whose interval contains the truth. */
function coverage(
  runs: (c: number) => number,
  interval: (cells: number[][]) => { lo: number; hi: number },
  repeats = 2000,
): number {
  let covered = 0;
  for (let i = 0; i < repeats; i++) {
    const { lo, hi } = interval(draw(runs, Random.seeded(7).split(i)));
    if (lo <= TRUTH && TRUTH <= hi) covered++;
  }
  return covered / repeats;
}

describe("the pooled estimate", () => {
  const PATTERNS: Readonly<Record<string, (c: number) => number>> = {
    "5 runs of all cells": () => 5,
    "20 runs of all cells": () => 20,
    "5, 20 and 100 runs": (c) => [5, 20, 100][c % 3]!,
    "5 runs of most cells, 100 of two": (c) => (c < 2 ? 100 : 5),
  };
  // The standard error of a share of 0.95 in 2000 experiments is 0.005.
  it.each(Object.entries(PATTERNS))("covers the truth in 95 of 100: %s", (_, runs) => {
    expect(Math.abs(coverage(runs, pooledInterval) - 0.95)).toBeLessThan(0.02);
  });

  it("would cover it in fewer than half if cells counted as independent", () => {
    const naive = (cells: number[][]) => meanInterval(cells.flat());
    expect(coverage(() => 5, naive, 400)).toBeLessThan(0.5);
  });

  it("is the mean of the cells' means, and narrower with more runs", () => {
    const cells = [
      [1, 3],
      [10, 20, 30, 40],
    ];
    expect(pooledInterval(cells).mean).toBe((2 + 25) / 2);
    const width = (runs: number) => {
      const { lo, hi } = pooledInterval(draw(() => runs, Random.seeded(1)));
      return hi - lo;
    };
    expect(width(100)).toBeLessThan(width(20));
    expect(width(20)).toBeLessThan(width(5));
  });

  it("is Student's interval of the runs' means if all cells have the same runs", () => {
    const cells = draw(() => 5, Random.seeded(3));
    const means = [0, 1, 2, 3, 4].map((r) => cells.reduce((sum, c) => sum + c[r]! / 24, 0));
    const [own, other] = [pooledInterval(cells), meanInterval(means)];
    expect(own.lo).toBeCloseTo(other.lo, 9);
    expect(own.hi).toBeCloseTo(other.hi, 9);
  });

  it("has no bounds from one run, and equal runs have an interval of width 0", () => {
    expect(pooledInterval([[1], [2]]).lo).toBeNaN();
    expect(
      pooledInterval([
        [1, 2],
        [1, 2, 3],
      ]).lo,
    ).toBeNaN();
    expect(
      pooledInterval([
        [1, 1, 1],
        [1, 1, 1, 1, 1],
      ]),
    ).toEqual({ mean: 1, lo: 1, hi: 1 });
  });
});
