import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dodge, overlap, placeAround, shorten } from "./labels.ts";

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

describe("placeAround", () => {
  const bounds = { left: 0, top: 0, width: 600, height: 400 };

  test("twenty labels around scattered points do not overlap and stay inside", () => {
    const point = fc.record({
      x: fc.double({ min: 0, max: 600, noNaN: true }),
      y: fc.double({ min: 0, max: 400, noNaN: true }),
      width: fc.integer({ min: 30, max: 150 }),
      height: fc.constant(13),
    });
    fc.assert(
      fc.property(fc.array(point, { minLength: 1, maxLength: 20 }), (points) => {
        const boxes = placeAround(points, bounds, []).map(({ box }) => box);
        expect(boxes.length).toBe(points.length);
        for (const [i, box] of boxes.entries()) {
          expect(boxes.slice(i + 1).some((other) => overlap(box, other))).toBe(false);
          expect(box.left).toBeGreaterThanOrEqual(0);
          expect(box.left + box.width).toBeLessThanOrEqual(600);
        }
      }),
      { seed: 1, numRuns: 40 },
    );
  });

  test("a lone label stands at the right of its point, at the left near the right edge", () => {
    const size = { width: 60, height: 12 };
    expect(placeAround([{ x: 100, y: 100, ...size }], bounds, [])[0]!.anchor).toBe("start");
    expect(placeAround([{ x: 590, y: 100, ...size }], bounds, [])[0]!.anchor).toBe("end");
  });

  test("obstacles are not covered if there is room", () => {
    const wall = { left: 105, top: 90, width: 100, height: 20 };
    const [label] = placeAround([{ x: 100, y: 100, width: 60, height: 12 }], bounds, [wall]);
    expect(overlap(label!.box, wall)).toBe(false);
  });
});

test("shortening keeps both ends and the length", () => {
  expect(shorten("fgts-cdb:weighting=perf:sd=2")).toBe("fgts-cdb:weighting=perf:sd=2");
  const short = shorten(`./policies/${"x".repeat(60)}.ts:alpha=2`);
  expect([...short].length).toBe(44);
  expect(short).toMatch(/^\.\/policies\/.*\u2026.*alpha=2$/);
});
