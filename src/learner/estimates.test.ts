import { describe, expect, it } from "vitest";
import { Random } from "../core/random/random.ts";
import { Estimator, type Sample } from "./estimates.ts";

/** P(k preferred to j) of three models, the same for all queries. */
const PREFERRED = [
  [0.5, 0.7, 0.9],
  [0.3, 0.5, 0.8],
  [0.1, 0.2, 0.5],
];
const BORDA = PREFERRED.map((row) => row.reduce((sum, p) => sum + p, 0) / 3);

/** Decisions that draw a pair with its probability. */
function duels(pairs: readonly (readonly [a: number, b: number, p: number])[], rounds: number) {
  return Array.from({ length: rounds }, (_, t): Sample => {
    const random = Random.seeded(t);
    const u = random.uniform();
    const upTo = (i: number) => pairs.slice(0, i + 1).reduce((sum, [, , p]) => sum + p, 0);
    const [a, b, propensity] = pairs.find((_, i) => u < upTo(i)) ?? pairs.at(-1)!;
    const win = random.uniform() < PREFERRED[a]![b]! ? 1 : 0;
    const voted = random.uniform() < 0.5;
    const duel = a === b ? undefined : { a, b, propensity, win: voted ? win : undefined };
    return { size: 3, values: undefined, duel };
  });
}

const SKEWED = [
  [0, 0, 0.3],
  [0, 1, 0.5],
  [0, 2, 0.1],
  [1, 2, 0.1],
] as const;
const TARGETS = [
  Float64Array.of(1, 0, 0),
  Float64Array.of(0, 0.5, 0.5),
  Float64Array.of(1 / 3, 1 / 3, 1 / 3),
];
const truth = TARGETS.map((pi) => pi.reduce((sum, share, k) => sum + share * BORDA[k]!, 0));

function estimate(samples: readonly Sample[]) {
  const estimator = new Estimator(["first", "others", "any"]);
  for (const sample of samples) estimator.add(sample, TARGETS);
  return estimator.result();
}

describe("Estimator", () => {
  const result = estimate(duels(SKEWED, 40_000));

  it.each(["ips", "snips", "dr"] as const)("%s estimates the value of each target", (kind) => {
    for (const [t, target] of result.targets.entries()) {
      const { mean, lo, hi } = target[kind];
      // Four standard errors.
      expect(Math.abs(mean - truth[t]!)).toBeLessThan(hi - lo + 1e-9);
      expect(hi - lo).toBeLessThan(0.05);
    }
  });

  it("gives a uniformly drawn model a value of exactly 1/2", () => {
    expect(truth[2]).toBeCloseTo(0.5, 12);
    expect(result.targets[2]!.dr.mean).toBeCloseTo(0.5, 12);
    expect(result.targets[2]!.dr.hi - result.targets[2]!.dr.lo).toBeCloseTo(0, 12);
  });

  it("estimates differences by decision: a policy gains exactly nothing over itself", () => {
    expect(result.targets[0]!.gain).toMatchObject({ mean: 0, lo: 0, hi: 0 });
    const { gain, dr } = result.targets[1]!;
    expect(gain.mean).toBeCloseTo(dr.mean - result.targets[0]!.dr.mean, 12);
    expect(gain.hi).toBeLessThan(0);
  });

  it("is not biased by a wrong forecast", () => {
    const upsideDown = duels(SKEWED, 40_000).map((sample) => ({ ...sample, values: [0, 1, 2] }));
    const { targets } = estimate(upsideDown);
    for (const [t, { dr }] of targets.entries()) {
      expect(Math.abs(dr.mean - truth[t]!)).toBeLessThan(dr.hi - dr.lo + 1e-12);
    }
  });

  it("is narrower with a good forecast", () => {
    const values = [2, 1, -0.5];
    const informed = duels(SKEWED, 40_000).map((sample) => ({ ...sample, values }));
    const width = ({ lo, hi }: { lo: number; hi: number }) => hi - lo;
    expect(width(estimate(informed).targets[0]!.dr)).toBeLessThan(width(result.targets[0]!.dr));
  });

  it("counts decisions, duels and votes, and gives no interval for one decision", () => {
    expect(result.decisions).toBe(40_000);
    expect(Math.abs(result.duels / 40_000 - 0.7)).toBeLessThan(0.01);
    expect(Math.abs(result.votes / result.duels - 0.5)).toBeLessThan(0.02);
    const { dr } = estimate(duels([[0, 1, 1]], 1)).targets[0]!;
    expect([dr.lo, dr.hi]).toEqual([Number.NaN, Number.NaN]);
    expect(estimate(duels([[0, 1, 1]], 100)).explored).toBe(0);
    // Two of the three duels have a propensity below 1/2.
    expect(result.explored / result.votes).toBeCloseTo(2 / 7, 1);
  });

  it("gives no interval if one vote has all the weight", () => {
    const quiet: Sample = { size: 3, values: undefined, duel: undefined };
    const duel = { a: 0, b: 1, propensity: 0.5, win: 1 };
    const { snips } = estimate([quiet, { ...quiet, duel }, quiet]).targets[0]!;
    expect([snips.lo, snips.hi]).toEqual([Number.NaN, Number.NaN]);
  });
});

it("a sampled log gives unbiased estimates", () => {
  const all = duels(SKEWED, 2000);
  const whole = estimate(all).targets;
  const rate = 0.2;
  const runs = Array.from({ length: 200 }, (_, run) => {
    const random = Random.seeded(run).split("sample");
    const estimator = new Estimator(["first", "others", "any"]);
    for (const decision of all) {
      if (decision.duel) estimator.add(decision, TARGETS);
      else if (random.uniform() < rate) estimator.add(decision, TARGETS, 1 / rate);
    }
    return estimator.result();
  });
  for (const [t, { ips, dr }] of whole.entries()) {
    for (const [kind, truth] of [["ips", ips.mean] as const, ["dr", dr.mean] as const]) {
      const means = runs.map(({ targets }) => targets[t]![kind].mean);
      const center = means.reduce((sum, value) => sum + value, 0) / means.length;
      const spread =
        Math.sqrt(means.reduce((sum, value) => sum + (value - center) ** 2, 0)) / means.length;
      expect(Math.abs(center - truth)).toBeLessThan(5 * spread + 0.002 * truth);
    }
  }
  const decisions = runs.map((run) => run.decisions);
  expect(decisions.reduce((sum, count) => sum + count, 0) / runs.length).toBeCloseTo(2000, -1.5);
});
