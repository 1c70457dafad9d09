import { describe, expect, it } from "vitest";
import type { Decision } from "../api/decision.ts";
import { categoryIn, inWords, votesInWords } from "./in-words.ts";

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
  it("says who, how likely, and at what price", () => {
    expect(inWords(single)).toBe(
      "mini: 71% likely to be preferred over large here, at 4.0% of its price.",
    );
    expect(inWords({ ...single, models: ["large"], runner_up: "mini" })).toMatch(
      /at 25 times its price/,
    );
    expect(inWords({ ...single, scores: [] })).toBe(
      "mini: 71% likely to be preferred over large here.",
    );
  });

  it("keeps the secret of a duel until there is a vote", () => {
    const { models: _, ...rest } = { ...single, duel: true, hidden: "x" };
    expect(inWords(rest)).toBe("A duel: the names are shown after the vote.");
    expect(inWords({ ...single, duel: true, models: ["mini", "large"] })).toBe(
      "A duel of mini and large: mini was 71% likely to be preferred, at 4.0% of its price.",
    );
  });

  it("names who was preferred, and the category", () => {
    const votes = [
      { outcome: "b", source: "user", at: "" },
      { rating: -1, source: "user", at: "" },
    ] as const;
    expect(votesInWords({ ...single, models: ["mini", "large"], votes })).toBe(
      "large preferred, disliked",
    );
    expect(categoryIn(single)).toBe("law");
  });
});
