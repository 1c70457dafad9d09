import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { createPolicy } from "./options.ts";
import { joust } from "./policies/joust.ts";
import { reportOf } from "./policies/joust-report.ts";
import { easyProblem } from "./policy.case.ts";
import type { Policy, Pool, Report } from "./policy.ts";

/** One category, so that the answers can be computed by hand. */
const pool: Pool = {
  models: ["a", "b", "c"],
  categories: ["all"],
  centroids: [Float64Array.of(1, 0)],
};
const x = pool.centroids[0]!;

function duels(policy: Policy, pair: readonly [number, number], wins: number, losses: number) {
  for (const [outcome, count] of [["a", wins] as const, ["b", losses] as const]) {
    for (let t = 0; t < count; t++)
      policy.learn({ kind: "duel", x, pair, outcome }, Random.seeded(t));
  }
}

describe("a report", () => {
  it("approaches the shares of the votes and their standard errors", () => {
    const policy = createPolicy(joust, pool, { position: false });
    duels(policy, [0, 1], 1500, 1000);
    duels(policy, [1, 0], 1000, 1500);
    duels(policy, [0, 2], 1250, 1250);
    const { mean, sd, beats } = reportOf(policy)!.overall();
    expect(beats(0, 1)).toBeCloseTo(0.6, 2);
    // Without ties, a unit of quality is half a logit.
    expect(mean[0]! - mean[1]!).toBeCloseTo(Math.log(1.5) / 2, 2);
    // The gap of a and c has the error 1 / sqrt(n p q) logits; b and c met only through a.
    const error = Math.sqrt(4 / 2500) / 2;
    for (const k of [0, 1, 2]) expect(sd[k]).toBeLessThan(1.2 * error);
    expect(sd[2]).toBeGreaterThan(0.6 * error);
  });

  it("with ties: neither gaps nor certainty grow beyond those of the votes", () => {
    const policy = createPolicy(joust, pool, { position: false });
    for (let t = 0; t < 3000; t++) {
      const outcome = t % 3 === 0 ? "tie" : t % 15 < 8 ? "a" : "b";
      policy.learn({ kind: "duel", x, pair: [0, 1], outcome }, Random.seeded(t));
    }
    const { mean, sd } = reportOf(policy)!.overall();
    // Every 15 votes hold 5 ties, 5 votes for a and 5 for b: exactly even.
    expect(mean[0]! - mean[1]!).toBeCloseTo(0, 1);
    // The score of a vote has the variance r / 4; the gap is twice the mean score.
    const error = Math.sqrt(2 / 3 / 3000);
    expect(2 * sd[0]!).toBeGreaterThan(error);
  });

  it("takes each query as belonging to one category, which is uncertain", () => {
    const report = betweenCategories();
    expect(report.onCategory(0).beats(0, 1)).toBeGreaterThan(0.92);
    expect(report.onCategory(1).beats(0, 1)).toBeLessThan(0.08);
  });

  it("also takes the nearest category as the right one, as often as it was measured to be", () => {
    const certain = betweenCategories([Float64Array.of(1, 0), Float64Array.of(0, 1)]);
    const p = certain.onCategory(0).beats(0, 1);
    // If the nearest category is always right, a wins 77% in the first one.
    expect(p).toBeLessThan(0.92);
    expect(p).toBeGreaterThan(0.77);
    expect(certain.onCategory(1).beats(0, 1)).toBeCloseTo(1 - p, 3);
    // The last 512 queries are of the second category; their memberships say 0.2 and 0.8.
    expect(certain.mix[1]).toBeGreaterThan(0.99);
    expect(betweenCategories().mix[1]).toBeCloseTo(0.8, 2);
  });

  it("counts ratings and rankings", () => {
    const rated = createPolicy(joust, pool);
    for (let t = 0; t < 40; t++) {
      rated.learn({ kind: "rating", x, model: 0, rating: 1 }, Random.seeded(t));
      rated.learn({ kind: "rating", x, model: 1, rating: -1 }, Random.seeded(t));
    }
    const ranked = createPolicy(joust, pool);
    for (let t = 0; t < 20; t++) {
      ranked.learn({ kind: "ranking", x, order: [0, 2, 1] }, Random.seeded(t));
    }
    for (const policy of [rated, ranked]) {
      const { mean } = reportOf(policy)!.overall();
      expect(mean[0]).toBeGreaterThan(mean[2]!);
      expect(mean[2]).toBeGreaterThan(mean[1]!);
    }
  });

  it("is the same after a snapshot", () => {
    const problem = easyProblem(2);
    const policy = createPolicy(joust, problem.pool);
    for (let t = 0; t < 200; t++) {
      const pair = [t % 4, (t + 1) % 4] as const;
      policy.learn({ kind: "duel", x: problem.at(t).x, pair, outcome: "a" }, Random.seeded(t));
    }
    const again = createPolicy(joust, problem.pool);
    again.restore(structuredClone(policy.snapshot()));
    const numbers = (from: Policy) => {
      const { mean, sd } = reportOf(from)!.onCategory(1);
      return [...mean, ...sd];
    };
    expect(numbers(again)).toEqual(numbers(policy));
  });

  it("keeps the votes on all duels of the models that stay, also with a model that leaves", () => {
    const problem = easyProblem(2);
    const untold = { ...problem.pool, told: undefined };
    const policy = createPolicy(joust, untold);
    for (let t = 0; t < 200; t++) {
      const pair = [t % 4, (t + 1) % 4] as const;
      const outcome = pair[0] === 3 ? "b" : "a"; // each model beats the ones after it
      policy.learn({ kind: "duel", x: problem.at(t).x, pair, outcome }, Random.seeded(t));
    }
    // The last model leaves, the others change places.
    const models = problem.pool.models.slice(0, 3).toReversed();
    const fewer = createPolicy(joust, { ...untold, models });
    fewer.restore(policy.snapshot());
    const before = reportOf(policy)!.overall();
    const after = reportOf(fewer)!.overall();
    expect(after.mean[2]! - after.mean[0]!).toBeCloseTo(before.mean[0]! - before.mean[2]!, 9);
    expect(after.beats(2, 1)).toBeCloseTo(before.beats(0, 1), 9);

    // It comes back with its votes.
    const again = createPolicy(joust, untold);
    again.restore(fewer.snapshot());
    const [back, first] = [reportOf(again)!.overall().mean, before.mean];
    back.forEach((mean, k) => void expect(mean).toBeCloseTo(first[k]!, 9));
  });

  it("does not take a model that left for an average one if scores are told", () => {
    const told = [Float64Array.of(0.9), Float64Array.of(0.5), Float64Array.of(0.5)];
    const policy = createPolicy(joust, { ...pool, told });
    duels(policy, [0, 1], 40, 10);
    duels(policy, [0, 2], 40, 10);
    const fewer = createPolicy(joust, { ...pool, models: ["b", "c"], told: told.slice(1) });
    fewer.restore(policy.snapshot());
    const { mean } = reportOf(fewer)!.overall();
    expect(mean[0]! - mean[1]!).toBeCloseTo(0, 6);
  });

  it("comes from the blocks for large pools and for snapshots of older versions", () => {
    const names = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);
    const large = createPolicy(joust, { ...pool, models: names(300) });
    duels(large, [0, 1], 30, 0);
    expect(reportOf(large)!.overall().mean[0]).toBeGreaterThan(0);
    expect(reportOf(large)!.sampleStandings(Random.seeded(1)).overall()).toHaveLength(300);

    const policy = createPolicy(joust, pool);
    duels(policy, [0, 1], 30, 0);
    const { models, state } = policy.snapshot();
    const old = createPolicy(joust, pool);
    old.restore({ models, state });
    expect(reportOf(old)!.overall().mean[0]).toBeGreaterThan(0);
  });
});

/** A report on duels whose queries lie between two categories, with the confusion of these if it was measured. */
function betweenCategories(confusion?: readonly Float64Array[]): Report {
  const two: Pool = {
    models: ["a", "b"],
    categories: ["one", "other"],
    centroids: [Float64Array.of(1, 0), Float64Array.of(0, 1)],
    confusion,
  };
  const policy = createPolicy(joust, two, { position: false });
  // Queries with the membership 0.8 and 0.2, or the reverse. The model a wins 95% of the duels on
  // queries of its category and 5% of the others: 0.8 * 95 + 0.2 * 5 = 77%.
  const angle = Math.asin((0.1 * Math.log(4)) / Math.SQRT2);
  for (const [sign, wins] of [[-1, 7700] as const, [1, 2300] as const]) {
    const turned = Math.PI / 4 + sign * angle;
    const between = Float64Array.of(Math.cos(turned), Math.sin(turned));
    for (let t = 0; t < 10_000; t++) {
      const outcome = t < wins ? "a" : "b";
      policy.learn({ kind: "duel", x: between, pair: [0, 1], outcome }, Random.seeded(t));
    }
  }
  return reportOf(policy)!;
}
