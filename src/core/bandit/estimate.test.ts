import { expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { createPolicy } from "./options.ts";
import { joust } from "./policies/joust.ts";
import { reportOf } from "./policies/joust-report.ts";
import { easyProblem } from "./policy.case.ts";

const problem = easyProblem(1);
/** A pool without told scores, so that estimates come from votes only. */
const pool = { ...problem.pool, told: undefined };
const K = pool.models.length;
const M = pool.categories.length;
const whole = Float64Array.from({ length: M }, () => 1 / M);

function voted(rounds: number) {
  const policy = createPolicy(joust, pool);
  for (let t = 0; t < rounds; t++) {
    const { x } = problem.at(t);
    const pair = [t % K, (t + 1 + (t % (K - 1))) % K] as const;
    const outcome = pair[0] < pair[1] ? "a" : "b"; // earlier models are better
    policy.learn({ kind: "duel", x, pair, outcome }, Random.seeded(t));
  }
  return policy;
}

it("is relative to the mean of the pool, and equal for all models before the first vote", () => {
  const { mean, sd, beats } = voted(0).estimate!(whole);
  for (let k = 0; k < K; k++) {
    expect(mean[k]).toBeCloseTo(0, 12);
    expect(sd[k]).toBeCloseTo(sd[0]!, 12);
  }
  expect(beats(0, 1)).toBeCloseTo(0.5, 12);
});

it("follows the votes and becomes more certain with them", () => {
  const before = voted(30).estimate!(whole);
  const after = voted(300).estimate!(whole);
  expect(after.mean.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 10);
  for (let k = 0; k + 1 < K; k++) {
    expect(after.mean[k]).toBeGreaterThan(after.mean[k + 1]!);
    expect(after.sd[k]).toBeLessThan(before.sd[k]!);
    expect(after.beats(k, k + 1)).toBeGreaterThan(0.5);
    expect(after.beats(k, k + 1) + after.beats(k + 1, k)).toBeCloseTo(1, 12);
  }
});

it("posterior samples have the mean and the sd of the report", () => {
  const report = reportOf(voted(100))!;
  const { mean, sd } = report.overall();
  const random = Random.seeded(7);
  const worlds = Array.from({ length: 4000 }, () => report.sampleStandings(random).overall());
  const centred = worlds.map((values) => {
    const middle = values.reduce((sum, value) => sum + value, 0) / K;
    return values.map((value) => value - middle);
  });
  for (let k = 0; k < K; k++) {
    const own = centred.map((values) => values[k]!);
    const average = own.reduce((sum, value) => sum + value, 0) / own.length;
    const variance = own.reduce((sum, value) => sum + (value - average) ** 2, 0) / own.length;
    expect(Math.abs(average - mean[k]!)).toBeLessThan(5 * (sd[k]! / Math.sqrt(own.length)));
    expect(Math.sqrt(variance) / sd[k]!).toBeCloseTo(1, 1);
  }
});

it("a posterior sample gives the same utilities at every call", () => {
  const { utilities } = reportOf(voted(100))!.samplePosterior(Random.seeded(3));
  const only = Float64Array.from({ length: M }, (_, m) => Number(m === 0));
  const half = Float64Array.from(only, (one) => (one + 1 / M) / 2);
  const between = utilities(half);
  utilities(only).forEach((value, k) => {
    expect((value + utilities(whole)[k]!) / 2).toBeCloseTo(between[k]!, 10);
  });
});
