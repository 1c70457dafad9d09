import { expect, it } from "vitest";
import { categoryEmbeddings, nearestCentroidAccuracy } from "./models.ts";

const at = (...numbers: number[]) => Float64Array.from(numbers);

it("xi is the mean of the category's queries in any order", () => {
  const xi = categoryEmbeddings([at(1, 0), at(0, 4), at(3, 0)], [1, 0, 1]);
  expect(xi).toEqual([at(0, 4), at(2, 0)]);
});

it("counts the queries nearest to their own category by angle, not by length", () => {
  const xi = [at(10, 0), at(0, 0.1)];
  const queries = [at(0.1, 0.01), at(5, 6), at(1, 1.1), at(-1, 0)];
  expect(nearestCentroidAccuracy(xi, queries, [0, 1, 0, 1])).toBe(0.75);
});
