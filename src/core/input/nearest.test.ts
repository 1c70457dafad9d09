import { expect, it } from "vitest";
import { didYouMean } from "./nearest.ts";

it.each([
  ["jost", "joust"],
  ["fgts_cdb", "fgts-cdb"],
  ["Random", "random"],
  ["thmopson", "thompson"],
])("%s was meant to be %s", (typed, meant) => {
  expect(didYouMean(typed, ["random", "thompson", "fgts-cdb", "joust"])).toBe(
    `did you mean "${meant}"? `,
  );
});

it("returns nothing if no name is similar", () => {
  expect(didYouMean("llama", ["random", "joust"])).toBe("");
  expect(didYouMean("joust", [])).toBe("");
  expect(didYouMean("uid", ["id"])).toBe("");
});
