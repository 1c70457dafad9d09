import { expect, it } from "vitest";
import { costWeightOf } from "./choose.ts";

it("rises from almost 0 to a price that outweighs all quality", () => {
  expect(costWeightOf(0)).toBeLessThan(1e-5);
  expect(costWeightOf(5)).toBe(0.25);
  expect(costWeightOf(10)).toBe(1e4);
  for (let t = 0; t < 10; t += 0.5) expect(costWeightOf(t + 0.5)).toBeGreaterThan(costWeightOf(t));
});
