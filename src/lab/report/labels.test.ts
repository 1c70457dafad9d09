import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dodge, shorten } from "./labels.ts";

describe("dodge", () => {
  const stacks = fc.array(
    fc.record({
      y: fc.double({ min: 0, max: 300, noNaN: true }),
      h: fc.integer({ min: 5, max: 20 }),
    }),
    { minLength: 1, maxLength: 20 },
  );

  test("labels keep their order, do not overlap and stay within the bounds", () => {
    fc.assert(
      fc.property(stacks, (labels) => {
        const sorted = labels.toSorted((a, b) => a.y - b.y);
        const heights = sorted.map(({ h }) => h);
        const centers = dodge(
          sorted.map(({ y }) => y),
          heights,
          0,
          400,
        );
        for (let i = 1; i < centers.length; i++) {
          const room = (heights[i - 1]! + heights[i]!) / 2;
          expect(centers[i]! - centers[i - 1]!).toBeGreaterThanOrEqual(room - 1e-9);
        }
        expect(centers[0]! - heights[0]! / 2).toBeGreaterThanOrEqual(-1e-9);
        expect(centers.at(-1)! + heights.at(-1)! / 2).toBeLessThanOrEqual(400 + 1e-9);
      }),
      { seed: 1 },
    );
  });

  test("labels with enough room stay at their wanted places", () => {
    expect(dodge([50, 100, 150], [10, 10, 10], 0, 200)).toEqual([50, 100, 150]);
  });

  test("labels wanted at one place spread evenly around it", () => {
    expect(dodge([100, 100, 100], [10, 10, 10], 0, 200)).toEqual([90, 100, 110]);
  });

  test("labels at the edge are pushed inwards", () => {
    expect(dodge([0, 0], [10, 10], 0, 200)).toEqual([5, 15]);
    expect(dodge([200, 200], [10, 10], 0, 200)).toEqual([185, 195]);
    expect(dodge([], [], 0, 200)).toEqual([]);
  });
});

test("shortening keeps both ends and the length", () => {
  expect(shorten("fgts-cdb:weighting=perf:sd=2")).toBe("fgts-cdb:weighting=perf:sd=2");
  const short = shorten(`./policies/${"x".repeat(60)}.ts:alpha=2`);
  expect([...short].length).toBe(44);
  expect(short).toMatch(/^\.\/policies\/.*\u2026.*alpha=2$/);
});
