import { describe, expect, it } from "vitest";
import type { Decision } from "../../../src/client.ts";
import { categoryIn, costOf, inWords, votesInWords } from "./in-words.ts";

const single = {
  duel: false,
  mode: "apply",
  models: ["mini"],
  runner_up: "large",
  win_probability: 0.71,
  scores: [
    { model: "mini", cost: 0.0004 },
    { model: "large", cost: 0.01 },
  ],
  votes: [],
  categories: { maths: 0.3, law: 0.6 },
} as unknown as Decision;

describe("a decision in words", () => {
  it("names the model, the probability and the price", () => {
    expect(inWords(single)).toBe(
      "mini: 71% likely to be preferred to large, at 4.0% of the price.",
    );
    expect(inWords({ ...single, models: ["large"], runner_up: "mini" })).toMatch(
      /at 25 times the price/,
    );
    expect(inWords({ ...single, scores: [] })).toBe("mini: 71% likely to be preferred to large.");
  });

  it("does not name the models of a duel before the vote", () => {
    const { models: _, ...rest } = { ...single, duel: true, hidden: "x" };
    expect(inWords(rest)).toBe("A duel. The names of the models are shown after the vote.");
    expect(inWords({ ...single, duel: true, models: ["mini", "large"] })).toBe(
      "Duel of mini and large: mini was 71% likely to be preferred, at 4.0% of the price.",
    );
  });

  it("costs what the answers that were given cost, without one that was made for a judge", () => {
    const answers = [
      { slot: 0, cost: 0.1 },
      { slot: 1, cost: 0.2 },
    ] as unknown as Decision["answers"];
    expect(costOf({ ...single, answers })).toBe(0.1);
    expect(costOf({ ...single, duel: true, answers })).toBeCloseTo(0.3, 12);
    expect(costOf({ ...single, answers: [] })).toBeUndefined();
  });

  it("names the preferred model and the category", () => {
    const votes = [
      { outcome: "b", source: "user", at: "", position: 1 },
      { rating: -1, source: "user", at: "", position: 1 },
    ] as const;
    expect(votesInWords({ ...single, models: ["mini", "large"], votes })).toBe(
      "large preferred, rated bad",
    );
    expect(categoryIn(single)).toBe("law");
  });
});
