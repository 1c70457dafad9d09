import { describe, expect, it } from "vitest";
import type { Stats, Tradeoff } from "../../../src/client.ts";
import { headlineOf, leastSettled } from "./headline.ts";

const best = {
  model: "opus",
  cost: 100,
  savings: 31,
  lo: 24,
  hi: 38,
  among: ["opus"],
  among_lo: 24,
  among_hi: 38,
};
const standing = (model: string, best: number) => ({
  model,
  value: 0,
  sd: 0.1,
  lo: -0.2,
  hi: 0.2,
  best,
});
const stats = (change: object = {}, spend: object = {}) =>
  ({
    counts: { votes: 400, duels: 0 },
    forecast: null,
    models: [],
    leaderboard: {
      overall: [],
      categories: [
        { category: "mbpp", share: 0.3, models: [standing("opus", 0.75), standing("small", 0.25)] },
        {
          category: "gsm8k",
          share: 0.7,
          models: [standing("opus", 0.99), standing("small", 0.01)],
        },
      ],
    },
    spend: { total: 69, compared: 69, requests: 500, always_best: best, ...spend },
    ...change,
  }) as unknown as Stats;
const tradeoff = (mean: number, lo: number, hi: number) =>
  ({
    singles: [{ model: "opus", cost: 1, wins: null, beaten: { mean, lo, hi } }],
  }) as unknown as Tradeoff;
const sentence = (...args: Parameters<typeof headlineOf>) => headlineOf(...args).sentence;

describe("the sentence at the top", () => {
  it("states savings and quality with intervals, and what is open", () => {
    expect(sentence(stats(), tradeoff(0.51, 0.47, 0.55), "last week")).toBe(
      "Routing saved 31% (24% to 38%) in the last week compared with always using opus, at the same quality as far as votes tell (it wins 51 of 100 comparisons, 47 to 55). About 590 more votes would settle Python, where opus is the best model with 75% probability.",
    );
  });

  it("leaves out an interval without width", () => {
    const exact = stats({}, { always_best: { ...best, lo: 31, hi: 31 } });
    expect(sentence(exact, undefined, "last day")).toMatch(/^Routing saved 31% in the last day/);
  });

  it("states a difference of quality only if its interval does", () => {
    expect(sentence(stats(), tradeoff(0.6, 0.55, 0.65), "last day")).toContain("at higher quality");
    expect(sentence(stats(), tradeoff(0.4, 0.35, 0.45), "last day")).toContain("at lower quality");
  });

  it.each([
    ["no requests", stats({}, { requests: 0 }), "There were no requests in the last day."],
    ["few requests", stats({}, { requests: 3 }), "too few to judge what it saves"],
    [
      "few votes",
      stats({ counts: { votes: 6, duels: 0 } }),
      "Routing answered 500 requests in the last day; after 6 votes it is too early to judge what it saves.",
    ],
    ["no prices", stats({}, { always_best: null }), "the best model has no price"],
    [
      "higher cost",
      stats({}, { always_best: { ...best, savings: -10, lo: -15, hi: -5 } }),
      "cost 10% more (5.0% to 15%)",
    ],
    [
      "no clear difference",
      stats({}, { always_best: { ...best, savings: 1, lo: -4, hi: 6 } }),
      "as far as can be told (\u22124.0% to 6.0% saved)",
    ],
  ])("claims no savings without data: %s", (_, given, part) => {
    const text = sentence(given, undefined, "last day");
    expect(text).toContain(part);
    expect(text).not.toContain("Routing saved");
  });

  it("says that a higher cost includes learning, also if only a judge was called", () => {
    const dearer = { always_best: { ...best, savings: -10, lo: -15, hi: -5 } };
    const text = (learning: number) => sentence(stats({}, { ...dearer, learning }), undefined, "w");
    expect(text(3)).toContain(
      "Routing, second answers of duels and answers made for a judge included, cost 10% more",
    );
    expect(text(0)).toContain("Routing cost 10% more");
  });

  it("has the forecast and the cost of learning among its evidence", () => {
    const forecast = {
      verdict: "later",
      sure: 0.7,
      reached: 0.9,
      votes: { median: 240, lo: 90, hi: null },
      dollars: null,
      horizon: 2000,
      futures: 40,
      learned: 400,
      version: 1,
    };
    const { evidence } = headlineOf(stats({ forecast }, { learning: 10 }), undefined, "last day");
    expect(evidence.join(" ")).toContain(
      "Forecast after 400 votes: routing beats the best single model with 95% probability after about 240 more (90 to over 2,000).",
    );
    expect(evidence.join(" ")).toContain(
      "About $10.00 of that paid for learning: second answers of duels and answers made for a judge",
    );
  });
});

it("nothing is open before there are votes, or if every best model is known", () => {
  expect(leastSettled(stats({ counts: { votes: 3 } }))).toBeUndefined();
  const known = [{ category: "mbpp", share: 1, models: [standing("opus", 0.97)] }];
  expect(leastSettled(stats({ leaderboard: { overall: [], categories: known } }))).toBeUndefined();
});
