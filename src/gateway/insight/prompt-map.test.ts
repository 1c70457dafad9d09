import fc from "fast-check";
import { expect, it } from "vitest";
import { planeOf } from "./prompt-map.ts";

const SEED = { seed: 7, numRuns: 50 };
const coordinate = fc.integer({ min: -5, max: 5 });
const point = fc.tuple(coordinate, coordinate);

it("keeps the distances of categories that lie in a plane", () => {
  fc.assert(
    fc.property(fc.array(point, { minLength: 3, maxLength: 8 }), (places) => {
      // A random plane in five dimensions.
      const centroids = places.map(([a, b]) =>
        Float64Array.of(0.6 * a, 0.8 * a, 1, 0.28 * b, 0.96 * b),
      );
      const shown = centroids.map(planeOf(centroids));
      for (let i = 0; i < places.length; i++) {
        for (let j = 0; j < i; j++) {
          const wanted = Math.hypot(places[i]![0] - places[j]![0], places[i]![1] - places[j]![1]);
          const found = Math.hypot(shown[i]!.x - shown[j]!.x, shown[i]!.y - shown[j]!.y);
          expect(found).toBeCloseTo(wanted, 3);
        }
      }
    }),
    SEED,
  );
});

it("puts the mean at the origin, two categories on a line and one at a point", () => {
  const two = [Float64Array.of(1, 0, 0), Float64Array.of(0, 1, 0)];
  const [a, b] = two.map(planeOf(two));
  expect([a!.x + b!.x, a!.y, b!.y]).toEqual([expect.closeTo(0), 0, 0]);
  const one = [Float64Array.of(1, 2)];
  expect(planeOf(one)(one[0]!)).toEqual({ x: 0, y: 0 });
});
