import { Histogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { p95ByModel, quantileOf } from "./latency.ts";

const cumulative = (...counts: [number, number][]) =>
  counts.map(([limit, count]) => ({ limit, count }));

it("interpolates inside the bucket of the quantile", () => {
  const buckets = cumulative([1, 50], [2, 90], [4, 100], [Infinity, 100]);
  expect(quantileOf(buckets, 0.5)).toBe(1);
  expect(quantileOf(buckets, 0.7)).toBe(1.5);
  expect(quantileOf(buckets, 0.95)).toBe(3);
});

it("is the last finite limit beyond it, and undefined without values", () => {
  expect(quantileOf(cumulative([1, 1], [Infinity, 10]), 0.95)).toBe(1);
  expect(quantileOf(cumulative([1, 0], [Infinity, 0]), 0.95)).toBeUndefined();
  expect(quantileOf([], 0.95)).toBeUndefined();
});

it("reads the histogram of each model", async () => {
  const histogram = new Histogram({
    name: "seconds",
    help: "test",
    labelNames: ["model"],
    buckets: [1, 2],
    registers: [new Registry()],
  });
  for (let i = 0; i < 100; i++) histogram.observe({ model: "slow" }, 1.5);
  histogram.observe({ model: "quick" }, 0.5);
  const found = await p95ByModel(histogram);
  expect(found.get("slow")).toBeCloseTo(1950, 9);
  expect(found.get("quick")).toBeCloseTo(950, 9);
  expect(found.get("other")).toBeUndefined();
});
