import { expect, it } from "vitest";
import { beforeAndNow, comparison, joined } from "./stages.ts";

const stage = (votes: number, requests: number, quality: number, cost: number) => ({
  votes,
  requests,
  quality,
  cost,
  best_quality: 0.85,
  best_cost: 0.02,
});

it("compares the first stage with the newest hundred requests, weighted by requests", () => {
  const stages = [stage(0, 25, 0.4, 0.001), stage(25, 25, 0, 1), stage(50, 20, 0.8, 0.01)];
  const found = beforeAndNow([...stages, stage(75, 80, 0.9, 0.006)])!;
  expect(found.before.quality).toBe(0.4);
  expect(found.now!.requests).toBe(100);
  expect(found.now!.quality).toBeCloseTo(0.88, 12);
  expect(found.now!.cost).toBeCloseTo(0.0068, 12);
});

it("has nothing to say before there are requests, and no present before the second stage", () => {
  expect(beforeAndNow([])).toBeUndefined();
  expect(beforeAndNow([stage(0, 25, 0.4, 0.001)])!.now).toBeUndefined();
});

it.each([
  [0.9, 0.008, "gives 5 more right answers per 100 requests and costs 60% less"],
  [0.8, 0.03, "gives 5 fewer right answers per 100 requests and costs 50% more"],
  [0.86, 0.012, "gives 1 more right answer per 100 requests and costs 40% less"],
  [0.85, 0.02, "gives as many right answers and costs the same"],
])("quality %d at %d dollars", (quality, cost, text) => {
  expect(comparison(stage(0, 100, quality, cost))).toBe(text);
});

it("joins neighbouring stages until each has 40 requests, the last one included", () => {
  const stages = [stage(0, 50, 0.4, 0.001), stage(25, 10, 0.5, 0.002), stage(50, 30, 0.9, 0.006)];
  const found = joined([...stages, stage(75, 5, 0.1, 0.01)]);
  expect(found.map(({ votes, requests }) => [votes, requests])).toEqual([
    [0, 50],
    [25, 45],
  ]);
  expect(found[1]!.quality).toBeCloseTo((10 * 0.5 + 30 * 0.9 + 5 * 0.1) / 45, 12);
  expect(joined(stages.slice(1, 2)).map(({ requests }) => requests)).toEqual([10]);
});
