import { beforeAll, describe, expect, it } from "vitest";
import { type Run, runSandbox } from "./sandbox-runs.fixture.ts";

const RUNS = 200;
/** Number of requests that the page considers. */
const ROUNDS = 512;
/** More than the default, so that 512 requests contain enough random choices. */
const EXPLORE = 0.1;

/**
 * With fewer than 1,000 votes a 95% band may contain the truth more often, but not more rarely.
 * So that no band passes by being wide, each has a largest mean half-width.
 */
describe("95% bands contain the truth in at least 93% of 200 runs in the sandbox", () => {
  let runs: Run[] = [];
  beforeAll(() => {
    runs = Array.from({ length: RUNS }, (_, i) => runSandbox(1 + i, ROUNDS, EXPLORE));
  });

  function expectRight(holds: (run: Run) => boolean): void {
    expect(runs.filter(holds).length / RUNS).toBeGreaterThanOrEqual(0.93);
  }
  const within = ({ lo, hi }: { lo: number; hi: number }, truth: number) =>
    lo <= truth && truth <= hi;
  const meanOf = (value: (run: Run) => number) =>
    runs.reduce((sum, run) => sum + value(run) / RUNS, 0);

  it("for regret", () => {
    expectRight(({ numbers, truth }) => within(numbers.regret!, truth.regret));
    const regret = meanOf(({ truth }) => truth.regret);
    // The only bias is that of wrong votes: 1 vote of 20 is wrong, so votes show each difference a
    // tenth too small.
    const bias = meanOf(({ numbers, truth }) => numbers.regret!.mean - truth.regret);
    expect(Math.abs(bias)).toBeLessThan(0.15 * regret);
    const widths = meanOf(({ numbers }) => numbers.regret!.hi - numbers.regret!.lo);
    expect(widths / 2).toBeLessThan(0.8 * regret);
  });

  it("for savings against the best model, which may be one of a few", () => {
    expectRight(({ numbers, truth }) => numbers.spend.always_best!.among.includes(truth.best));
    for (const { numbers, truth } of runs) {
      const { among, among_lo: lo, among_hi: hi, savings } = numbers.spend.always_best!;
      expect(within({ lo, hi }, savings)).toBe(true);
      // The order of the sums differs, so the last digits may.
      if (among.includes(truth.best)) {
        expect(within({ lo: lo - 1e-9, hi: hi + 1e-9 }, truth.savings)).toBe(true);
      }
    }
    // Each of the six models of a pool may be the best; only a few are named.
    expect(meanOf(({ numbers }) => numbers.spend.always_best!.among.length)).toBeLessThan(5.2);
  });

  it.each([
    ["ips", 0.32],
    ["snips", 0.23],
    ["dr", 0.19],
  ] as const)("for one model for all requests, by %s", (kind, halfWidth) => {
    expectRight(({ estimates, truth }) => within(estimates[kind], truth.value));
    const widths = meanOf(({ estimates }) => estimates[kind].hi - estimates[kind].lo);
    expect(widths / 2).toBeLessThan(halfWidth);
  });
});
