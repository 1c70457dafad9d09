import { describe, expect, it } from "vitest";
import type { Standing } from "../../api/stats.ts";
import { ALL_MODELS, noCounts } from "../../store/tally.ts";
import { spendOf } from "./spend.ts";
import { mayBeBest } from "./standings.ts";

const standing = (model: string, value: number, best: number | null): Standing => ({
  model,
  value,
  best,
  sd: null,
  lo: null,
  hi: null,
});
const overall = [
  standing("expensive", 0.3, 0.4),
  standing("fair", 0.2, 0.5),
  standing("cheap", 0, 0.07),
  standing("poor", -0.5, 0.03),
];
const price = (dollars: number) => ({ input: dollars, output: dollars });
const prices = new Map([
  ["expensive", price(10)],
  ["fair", price(3)],
  ["cheap", price(1)],
  ["poor", price(0.5)],
]);
/** Ten requests with two answers each and a million tokens in total. */
const counts = {
  ...noCounts(),
  shown: 10,
  answers: 20,
  input_tokens: 4e5,
  output_tokens: 6e5,
  cost: 2,
};
const tallies = [{ router: "auto", bucket: 0, model: ALL_MODELS, counts }];

describe("spend", () => {
  it("counts one answer per request for the alternative model", () => {
    const { always_best, always_cheapest } = spendOf(tallies, prices, overall);
    expect(always_best).toMatchObject({ model: "expensive", cost: 5, savings: 3 });
    expect(always_cheapest).toEqual({ model: "poor", cost: 0.25, savings: -1.75 });
  });

  it("has an interval for the savings against the best model", () => {
    const { always_best } = spendOf(tallies, prices, overall);
    expect(always_best).toMatchObject({ among: ["fair", "expensive", "cheap"], lo: -1.5, hi: 3 });
  });

  it("leaves out models without a price, and has no alternative if the leader has none", () => {
    const some = new Map([...prices].filter(([model]) => model !== "cheap"));
    expect(spendOf(tallies, some, overall).always_best).toMatchObject({ lo: -0.5, hi: 3 });
    expect(spendOf(tallies, new Map(), overall).always_best).toBeNull();
    expect(spendOf(tallies, prices, []).always_best).toBeNull();
  });
});

it("names the most probable best models, or the first one if probabilities are unknown", () => {
  expect(mayBeBest(overall)).toEqual(["fair", "expensive", "cheap"]);
  const mute = overall.map((one) => ({ ...one, best: null }));
  expect(mayBeBest(mute)).toEqual(["expensive"]);
  expect(mayBeBest([])).toEqual([]);
});
