import { expect, it } from "vitest";
import { lambdaOf } from "./choose.ts";

it("rises from almost 0 to a price that outweighs all quality", () => {
  expect(lambdaOf(0)).toBeLessThan(1e-5);
  expect(lambdaOf(5)).toBe(0.25);
  expect(lambdaOf(10)).toBe(1e4);
  for (let t = 0; t < 10; t += 0.5) expect(lambdaOf(t + 0.5)).toBeGreaterThan(lambdaOf(t));
});
