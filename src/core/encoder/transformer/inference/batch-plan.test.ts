import fc from "fast-check";
import { expect, it } from "vitest";
import { planBatches } from "./batch-plan.ts";

const LENGTHS = fc.array(fc.integer({ min: 2, max: 20 }), { maxLength: 7 });
const LIMITS = fc.record({
  overhead: fc.integer({ min: 0, max: 30 }),
  most: fc.integer({ min: 1, max: 60 }),
});

const padded = (batch: number[], lengths: number[]) =>
  batch.length * Math.max(...batch.map((k) => lengths[k]!));

it("contains every text once, in batches within the limit", () => {
  fc.assert(
    fc.property(LENGTHS, LIMITS, (lengths, limits) => {
      const batches = planBatches(lengths, limits);
      expect(batches.flat().sort((a, b) => a - b)).toEqual(lengths.map((_, k) => k));
      for (const batch of batches) {
        if (batch.length > 1) expect(padded(batch, lengths)).toBeLessThanOrEqual(limits.most);
      }
    }),
    { seed: 1 },
  );
});

it("has the least cost of all partitions of the texts", () => {
  fc.assert(
    fc.property(LENGTHS, LIMITS, (lengths, limits) => {
      const cost = (batches: number[][]) =>
        batches.reduce((sum, batch) => sum + limits.overhead + padded(batch, lengths), 0);
      const least = Math.min(
        ...partitions(lengths.map((_, k) => k))
          .filter((parts) =>
            parts.every((part) => part.length === 1 || padded(part, lengths) <= limits.most),
          )
          .map(cost),
      );
      expect(cost(planBatches(lengths, limits))).toBe(least);
    }),
    { seed: 1, numRuns: 50 },
  );
});

/** Returns every partition of the items. */
function partitions(items: number[]): number[][][] {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  return partitions(rest).flatMap((parts) => [
    [[first], ...parts],
    ...parts.map((part, p) => parts.with(p, [first, ...part])),
  ]);
}

it("does not pad texts of equal length, in any order", () => {
  const batches = planBatches([9, 3, 9, 3, 3], { overhead: 1, most: 100 });
  expect(batches.map((batch) => batch.toSorted())).toEqual([
    [0, 2],
    [1, 3, 4],
  ]);
});
