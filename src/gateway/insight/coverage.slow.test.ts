import { beforeAll, describe, expect, it } from "vitest";
import { type Run, runSandbox } from "./sandbox-runs.fixture.ts";

const RUNS = 200;
/** Number of requests that the page considers. */
const ROUNDS = 512;
/** More than the default, so that 512 requests contain enough random choices. */
const EXPLORE = 0.1;
const PATIENCE_MS = 300_000;

describe("95% bands contain the truth in 90 to 98% of 200 runs in the sandbox", () => {
  let runs: Run[] = [];
  beforeAll(() => {
    runs = Array.from({ length: RUNS }, (_, i) => runSandbox(1 + i, ROUNDS, EXPLORE));
  }, PATIENCE_MS);

  function expectRight(holds: (run: Run) => boolean): void {
    const share = runs.filter(holds).length / RUNS;
    expect(share).toBeGreaterThanOrEqual(0.9);
    expect(share).toBeLessThanOrEqual(0.98);
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
    // The band must not be wider than regret itself.
    expect(meanOf(({ numbers }) => (numbers.regret!.hi - numbers.regret!.lo) / 2)).toBeLessThan(
      regret,
    );
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
    expect(meanOf(({ numbers }) => numbers.spend.always_best!.among.length)).toBeLessThan(5);
  });

  it.each(["ips", "snips", "dr"] as const)("for one model for all requests, by %s", (kind) => {
    expectRight(({ estimates, truth }) => within(estimates[kind], truth.value));
  });
});
