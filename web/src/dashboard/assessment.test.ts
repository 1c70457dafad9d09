import { describe, expect, it } from "vitest";
import type { Band, LearningCurve, Stats } from "../../../src/client.ts";
import {
  forecastSentence,
  learningAssessment,
  savingAssessment,
  trustAssessment,
} from "./assessment.ts";

const band = (mean: number, half = 0.01): Band => ({ mean, lo: mean - half, hi: mean + half });
const less = (a: Band, b: Band) => {
  const [mean, lo, hi] = [a.mean - b.mean, a.lo - b.hi, a.hi - b.lo];
  return { mean, lo, hi, sure: lo > 0 ? 0.99 : hi < 0 ? 0 : 0.6 };
};
const learning = (...regrets: Band[]): LearningCurve => ({
  object: "learning",
  router: "auto",
  posterior_version: 1,
  stretches: regrets.map((regret) => ({
    from: "",
    to: "",
    requests: 10,
    shares: {},
    regret,
    fallen: less(regrets[0]!, regret),
    win_rate: band(0.5),
  })),
});
const STATS = {
  mode: "apply",
  guard: null,
  win_rate: band(0.6, 0.05),
  recent_queries: 0,
  models: [{ model: "big" }, { model: "large" }, { model: "small" }],
  counts: { duel_rate: 0.5, votes: 3, ratings: 1, answers: 150, failures: 0 },
  spend: {
    total: 0.2,
    compared: 0.2,
    requests: 100,
    always_best: { model: "big", cost: 0.5, savings: 0.3, among: ["big"], lo: 0.2, hi: 0.4 },
    always_cheapest: { model: "small", cost: 0.05, savings: -0.15 },
  },
} as unknown as Stats;

describe("is it learning", () => {
  it("is positive only if regret has clearly fallen", () => {
    const clearly = learningAssessment(STATS, learning(band(0.3), band(0.2), band(0.1)));
    expect(clearly).toMatchObject({ figure: "60%", tone: "good" });
    expect(clearly.sentence).toBe(
      "A request loses 5.0 wins of 100 to the best model for it; at the start of the window it lost 15.0. The probability that the loss fell is 99%.",
    );
    const perhaps = learningAssessment(
      STATS,
      learning(band(0.3, 0.2), band(0.3, 0.2), band(0.25, 0.2)),
    );
    expect(perhaps).toMatchObject({ tone: "open" });
    expect(perhaps.sentence).toMatch(/The probability that the loss fell is 60%/);
    expect(learningAssessment(STATS, learning(band(0.1), band(0.2), band(0.3))).tone).toBe("bad");
  });

  it("shows the win rate while the rest is loading", () => {
    expect(learningAssessment(STATS, undefined)).toMatchObject({ figure: "60%", tone: "open" });
  });

  it("shows no figure without requests", () => {
    expect(learningAssessment({ ...STATS, win_rate: null }, undefined).figure).toBe("\u2013");
  });

  it("shows no figure without votes", () => {
    const fresh = { ...STATS, win_rate: null, recent_queries: 5 };
    expect(learningAssessment(fresh, undefined)).toMatchObject({
      figure: "\u2013",
      tone: "open",
      sentence: "There are no votes yet, so nothing is known about the quality of the models.",
    });
  });
});

describe("is it saving", () => {
  it("compares with the best and with the cheapest model", () => {
    expect(savingAssessment(STATS)).toMatchObject({
      figure: "$0.20",
      tone: "good",
      sentence:
        "60% less than the estimated $0.50 of always using big, prompt caches included ($0.20 to $0.40 saved with 95% probability). Always using small would have cost $0.050.",
    });
  });

  it("is open while the interval contains a loss", () => {
    const always_best = { ...STATS.spend.always_best!, lo: -0.05 };
    expect(savingAssessment({ ...STATS, spend: { ...STATS.spend, always_best } }).tone).toBe(
      "open",
    );
  });

  it("does not judge a few requests", () => {
    const spend = { ...STATS.spend, requests: 3 };
    const dear = { ...spend, always_best: { ...spend.always_best!, cost: 0.1, savings: -0.1 } };
    for (const early of [spend, dear]) {
      expect(savingAssessment({ ...STATS, spend: early }).tone).toBe("open");
    }
  });

  it("shows the interval if the best model is uncertain", () => {
    const doubted = { among: ["big", "large"], among_lo: -0.1, among_hi: 0.4 };
    const always_best = { ...STATS.spend.always_best!, ...doubted };
    expect(savingAssessment({ ...STATS, spend: { ...STATS.spend, always_best } }).sentence).toBe(
      "60% less than the estimated $0.50 of always using big, prompt caches included ($0.20 to $0.40 saved with 95% probability). Compared with the 2 models that may be the best: \u2212$0.10 to $0.40 saved. Always using small would have cost $0.050.",
    );
  });

  it("explains a higher cost", () => {
    const loss = { cost: 0.1, savings: -0.1, lo: -0.12, hi: -0.08 };
    const always_best = { ...STATS.spend.always_best!, ...loss };
    const dear = { ...STATS, spend: { ...STATS.spend, always_best } };
    expect(savingAssessment(dear)).toMatchObject({ tone: "bad" });
    expect(savingAssessment(dear).sentence).toMatch(
      /^\$0\.10 more than always using big, prompt caches included \(\$0\.080 to \$0\.12 more with 95% probability\)\. 50% of the requests were duels, which call two models\. /,
    );
  });
});

it("shows the savings without duels, which are a cost of learning", () => {
  const always_best = { ...STATS.spend.always_best!, cost: 0.16, savings: -0.04 };
  const learning = { ...STATS, spend: { ...STATS.spend, always_best } };
  expect(savingAssessment(learning)).toMatchObject({ tone: "open" });
  expect(savingAssessment(learning).sentence).toMatch(
    /two models; without them it would save 17%\. Always using small/,
  );
});

describe("can it be trusted", () => {
  const advantage = (sure: number) => ({
    advantage: { ...band(0.03, 0.02), over: "big", sure },
    singles: [],
  });
  const always = (over: string) => ({
    advantage: { ...band(0, 0), over, sure: 1 },
    singles: [],
  });

  it("shows the probability that routing is at least as good as one model", () => {
    expect(trustAssessment(STATS, advantage(0.95))).toMatchObject({
      figure: "95%",
      tone: "good",
      caption: "probability that routing is at least as good as always using big",
      sentence:
        "Compared with it, routing is worth +0.03 of quality per request, price included (+0.01 to +0.05). The guard is off. 3 votes of all voters in this time window.",
    });
    const single = { model: "big", cost: 1, wins: null, beaten: band(0.53, 0.05) };
    expect(trustAssessment(STATS, { ...advantage(0.95), singles: [single] }).sentence).toMatch(
      /^Against it, routing wins 53 of 100 comparisons \(48 to 58\); its price counts too\. /,
    );
    expect(trustAssessment(STATS, advantage(0.8)).tone).toBe("open");
    expect(trustAssessment(STATS, advantage(0.05)).tone).toBe("bad");
  });

  it("claims nothing before the first vote", () => {
    const fresh = { ...STATS, counts: { ...STATS.counts, votes: 0, ratings: 0 } };
    for (const found of [undefined, { advantage: null, singles: [] }, always("small")]) {
      expect(trustAssessment(fresh, found)).toMatchObject({ figure: "\u2013", tone: "open" });
    }
  });

  it("claims nothing if routing always chooses the same model", () => {
    expect(trustAssessment(STATS, always("big"))).toMatchObject({
      tone: "open",
      caption: "from always using big",
    });
  });

  it("reports an active guard and a router that does not choose", () => {
    expect(trustAssessment({ ...STATS, guard: "big" }, advantage(0.95))).toMatchObject({
      figure: "Guard on",
      tone: "bad",
    });
    expect(trustAssessment({ ...STATS, mode: "observe" }, undefined).figure).toBe("Observing");
  });
});

it.each([
  ["now", { median: 0, lo: 0, hi: 0 }, "Routing pays now."],
  [
    "later",
    { median: 340, lo: 120, hi: 900 },
    "Forecast after 10 votes: about 340 more until routing pays (120 to 900).",
  ],
  [
    "later",
    { median: 340, lo: 120, hi: null },
    "Forecast after 10 votes: about 340 more until routing pays (120 to over 2,000).",
  ],
  [
    "never",
    { median: null, lo: 700, hi: null },
    "Routing will probably not pay with this pool: not within 2,000 more votes.",
  ],
] as const)("says when routing pays: %s", (verdict, votes, sentence) => {
  const rest = { sure: 0.5, reached: 0.5, dollars: null, futures: 40, learned: 10, version: 10 };
  const forecast = { verdict, votes, horizon: 2000, ...rest };
  expect(forecastSentence(forecast)).toBe(sentence);
  expect(trustAssessment({ ...STATS, forecast }, undefined).sentence).toContain(sentence);
});

it("shows in mode observe what a judge says about the router's choices", () => {
  const shadow = {
    comparisons: 80,
    win_rate: band(0.62, 0.1),
    cost: band(-0.004, 0.001),
    latency_ms: band(500, 100),
  };
  const observing: Stats = { ...STATS, mode: "observe", shadow };
  expect(trustAssessment(observing, undefined)).toMatchObject({
    figure: "62%",
    tone: "good",
    caption: "win rate of the router's choice, 52% to 72%",
    sentence: expect.stringMatching(
      /in 80 requests in which they differ. On average, its answers cost \$0\.0040 less \(\$0\.0030 to \$0\.0050\) and took 0\.5 s more \(0\.4 s to 0\.6 s\)\./,
    ),
  });
  const unclear = { ...observing, shadow: { ...shadow, latency_ms: band(40, 90) } };
  expect(trustAssessment(unclear, undefined).sentence).toContain(
    "took 0.0 s more (\u22120.1 s to 0.1 s).",
  );
  const worse = { ...observing, shadow: { ...shadow, win_rate: band(0.3, 0.1) } };
  expect(trustAssessment(worse, undefined).tone).toBe("bad");
});
