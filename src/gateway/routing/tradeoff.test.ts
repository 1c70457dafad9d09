import { expect, it } from "vitest";
import { lambdaOf } from "./tradeoff.ts";

it("goes from nothing to a price above all, and always up", () => {
  expect(lambdaOf(0)).toBeLessThan(1e-5);
  expect(lambdaOf(5)).toBe(0.25);
  expect(lambdaOf(10)).toBe(1e4);
  for (let t = 0; t < 10; t += 0.5) expect(lambdaOf(t + 0.5)).toBeGreaterThan(lambdaOf(t));
});
