import { expect, it } from "vitest";
import type { Stats, Truth } from "../../../src/client.ts";
import { agreement, compare } from "./truth.ts";

const truth: Truth = {
  object: "truth",
  categories: ["maths", "law"],
  visible: 0.9,
  models: [
    { model: "a", quality: [0.9, 0.2], cost: [] },
    { model: "b", quality: [0.5, 0.6], cost: [] },
    { model: "not in the pool", quality: [1, 1], cost: [] },
  ],
};
const standing = (model: string, value: number, half = 0.1) => ({
  model,
  value,
  lo: value - half,
  hi: value + half,
});
const stats = {
  leaderboard: {
    categories: [
      { category: "maths", models: [standing("a", 0.15), standing("b", -0.15)] },
      { category: "law", models: [standing("a", 0.1), standing("b", -0.1)] },
    ],
  },
} as unknown as Stats;

it("true values are relative to the mean of the models in the pool, as votes show them", () => {
  const pairs = compare(truth, stats);
  expect(pairs.map(({ truth }) => truth)).toEqual(
    [0.18, -0.18, -0.18, 0.18].map((value) => expect.closeTo(value)),
  );
});

it("agreement counts a correct and a wrong category", () => {
  const found = agreement(compare(truth, stats))!;
  expect(found).toMatchObject({ categories: 2, best: 1, covered: 0.5 });
  expect(found.correlation).toBeGreaterThan(0);
  expect(agreement([])).toBeUndefined();
});
