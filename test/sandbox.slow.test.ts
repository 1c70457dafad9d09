import { expect, it } from "vitest";
import { sandbox } from "../bench/sandbox.ts";

it("routing pays in the sandbox after a thousand votes, with the default policy and settings", async () => {
  const { ratios, figures } = await sandbox([], { seeds: 20 });
  const best = figures["always summit-pro: quality"]!;
  expect(figures["1000 votes: quality"]).toBeGreaterThan(best + 0.02);
  expect(ratios["cost relative to the best model"]).toBeLessThan(0.6);
  expect(ratios["seeds in which a single model is as good and as cheap"]).toBe(0);
  expect(ratios["seeds above every mix of two single models"]).toBe(1);
  expect(
    ratios["seeds with higher quality at lower cost than the best model"],
  ).toBeGreaterThanOrEqual(0.8);
});
