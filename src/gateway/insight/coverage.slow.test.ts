import { beforeAll, describe, expect, it } from "vitest";
import { type Run, runSandbox } from "./sandbox-runs.fixture.ts";

const RUNS = 200;
/** As many as the page looks back at. */
const ROUNDS = 512;
/** More than the default, so that 512 requests have enough random choices to judge by. */
const EXPLORE = 0.1;
const PATIENCE_MS = 300_000;

describe("in the sandbox, 95% bands hold the truth in 90 to 98% of 200 runs", () => {
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

  it("of regret", () => {
    expectRight(({ numbers, truth }) => within(numbers.regret!, truth.regret));
    const regret = meanOf(({ truth }) => truth.regret);
    // Without bias: voters slip in 1 of 20 cases, so they see a tenth less of any difference.
    const bias = meanOf(({ numbers, truth }) => numbers.regret!.mean - truth.regret);
    expect(Math.abs(bias)).toBeLessThan(0.15 * regret);
    // As narrow as regret itself, or it would say nothing.
    expect(meanOf(({ numbers }) => (numbers.regret!.hi - numbers.regret!.lo) / 2)).toBeLessThan(
      regret,
    );
  });

  it("of savings against always the best, which one of a few models may be", () => {
    expectRight(({ numbers, truth }) => numbers.spend.always_best!.among.includes(truth.best));
    for (const { numbers, truth } of runs) {
      const { among, lo, hi, savings } = numbers.spend.always_best!;
      expect(within({ lo, hi }, savings)).toBe(true);
      // To the last digits, since the order of a sum differs.
      if (among.includes(truth.best)) {
        expect(within({ lo: lo - 1e-9, hi: hi + 1e-9 }, truth.savings)).toBe(true);
      }
    }
    // All models of a pool may be the best, six of them; a few of these are named.
    expect(meanOf(({ numbers }) => numbers.spend.always_best!.among.length)).toBeLessThan(5);
  });

  it.each(["ips", "snips", "dr"] as const)("of one model for all, by %s", (kind) => {
    expectRight(({ estimates, truth }) => within(estimates[kind], truth.value));
  });
});
