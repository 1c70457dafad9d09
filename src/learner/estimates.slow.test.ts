import { expect, it } from "vitest";
import { createPolicy } from "../core/bandit/options.ts";
import { zeroFeedback } from "../core/bandit/policies/baselines.ts";
import { greedy } from "../core/bandit/policies/greedy.ts";
import { Random } from "../core/random/random.ts";
import { Estimator } from "./estimates.ts";
import { World } from "./world.fixture.ts";

const RUNS = 400;
const ROUNDS = 1000;

it("the intervals contain the true value in 90 to 98% of 400 runs and are narrow", () => {
  const names = ["zero-feedback", "greedy", "always m0"];
  const covered = { ips: [0, 0, 0], snips: [0, 0, 0], dr: [0, 0, 0], gain: [0, 0, 0] };
  let width = 0;
  for (let run = 0; run < RUNS; run++) {
    const world = new World(run, 4);
    const targets = [zeroFeedback, greedy].map((kind) => createPolicy(kind, world.pool));
    const candidates = world.pool.models.map((_, k) => k);
    const estimator = new Estimator(names);
    const truth = [0, 0, 0];
    for (const { x, m, seed, pair, propensity, values, win, outcome } of world.serve(
      ROUNDS,
      0.1,
      0.8,
    )) {
      const pairs = targets.map(
        (policy) => policy.choose({ x, candidates }, Random.seeded(seed)).pair,
      );
      const shares = [...pairs, [0, 0] as const].map(([a, b]) => {
        const pi = new Float64Array(4);
        pi[a]! += 0.5;
        pi[b]! += 0.5;
        return pi;
      });
      shares.forEach((pi, t) => {
        for (const k of candidates) truth[t]! += (pi[k]! * world.borda(m, k)) / ROUNDS;
      });
      const [a, b] = pair;
      const duel = a === b ? undefined : { a, b, propensity, win };
      estimator.add({ size: 4, values, duel }, shares);
      if (!outcome) continue;
      for (const policy of targets) {
        policy.learn({ kind: "duel", x, pair, outcome }, Random.seeded(seed));
      }
    }
    estimator.result().targets.forEach((target, t) => {
      for (const kind of ["ips", "snips", "dr", "gain"] as const) {
        const { lo, hi } = target[kind];
        const value = kind === "gain" ? truth[t]! - truth[0]! : truth[t]!;
        if (lo <= value && value <= hi) covered[kind][t]!++;
      }
      width += (target.dr.hi - target.dr.lo) / (2 * RUNS * names.length);
    });
  }
  // The gain of a policy over itself is exactly 0, so it is left out.
  for (const count of [...covered.dr, ...covered.snips, ...covered.gain.slice(1)]) {
    expect(count / RUNS).toBeGreaterThanOrEqual(0.9);
    expect(count / RUNS).toBeLessThanOrEqual(0.98);
  }
  // A few votes carry most of the weight of IPS, so its intervals are wide.
  for (const count of covered.ips) expect(count / RUNS).toBeGreaterThanOrEqual(0.9);
  const mean = covered.ips.reduce((sum, count) => sum + count / RUNS / names.length, 0);
  expect(mean).toBeLessThanOrEqual(0.98);
  expect(width).toBeLessThan(0.15);
});
