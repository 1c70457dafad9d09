import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  excludesZero,
  holm,
  mean,
  meanInterval,
  pairedDifference,
  percentile,
  tQuantile,
  tTail,
} from "./statistics.ts";

describe("Student's t", () => {
  // Published tables; df 1 and 2 also by hand: tan(0.475 pi) and 2 (2p-1) / sqrt(1 - (2p-1)^2) / sqrt 2.
  test.each([
    [0.975, 1, 12.7062047362],
    [0.975, 2, 4.3026527297],
    [0.975, 3, 3.1824463053],
    [0.975, 4, 2.776445105],
    [0.975, 5, 2.5705818356],
    [0.975, 9, 2.262157163],
    [0.975, 10, 2.228138852],
    [0.975, 19, 2.0930240544],
    [0.975, 29, 2.0452296421],
    [0.975, 30, 2.0422724563],
    [0.975, 100, 1.9839715185],
    [0.975, 1000, 1.9623390808],
    [0.95, 4, 2.1318467863],
    [0.995, 7, 3.4994832974],
  ])("quantile %d with %d degrees of freedom", (p, df, t) => {
    expect(Math.abs(tQuantile(p, df) - t)).toBeLessThan(1e-9);
    expect(tQuantile(1 - p, df)).toBeCloseTo(-t, 6);
  });

  test("falls with df towards the normal quantile", () => {
    const quantiles = Array.from({ length: 200 }, (_, i) => tQuantile(0.975, i + 1));
    for (let i = 1; i < quantiles.length; i++)
      expect(quantiles[i]!).toBeLessThan(quantiles[i - 1]!);
    expect(tQuantile(0.975, 1_000_000)).toBeCloseTo(1.959966, 5);
  });

  test("the integral of the density up to the quantile is p", () => {
    for (const df of [1, 2, 3, 8, 21]) {
      const t = tQuantile(0.975, df);
      // int_0^t (1 + u^2/df)^(-(df+1)/2) du over the same up to infinity, u = sqrt(df) tan v.
      const density = (v: number) => Math.cos(v) ** (df - 1);
      const share = simpson(density, Math.atan(t / Math.sqrt(df))) / simpson(density, Math.PI / 2);
      expect(share).toBeCloseTo(0.95, 8);
    }
  });

  test("the tail inverts the quantile, and is 1 at t = 0", () => {
    for (const df of [1, 2, 3, 4, 19, 200]) {
      for (const p of [0.001, 0.05, 0.3, 0.7]) {
        expect(tTail(tQuantile(1 - p / 2, df), df)).toBeCloseTo(p, 12);
      }
      expect(tTail(0, df)).toBe(1);
    }
  });

  test("far tails keep their precision", () => {
    // df 1: 2/pi atan(1/t); df 2: 1 - t / sqrt(2 + t^2) = 2 / (s (s + t)), s = sqrt(2 + t^2).
    expect(tTail(1e9, 1) / ((2 / Math.PI) * 1e-9)).toBeCloseTo(1, 9);
    const s = Math.sqrt(2 + 1e12);
    expect(tTail(1e6, 2) / (2 / (s * (s + 1e6)))).toBeCloseTo(1, 9);
  });

  test("refuses invalid degrees of freedom", () => {
    expect(() => tQuantile(0.975, 0)).toThrow(RangeError);
    expect(() => tQuantile(1, 5)).toThrow(RangeError);
  });
});

describe("intervals", () => {
  test("of 1..5, by hand: 3 +- 2.776445 sqrt(2.5 / 5)", () => {
    const { lo, hi, mean: center } = meanInterval([1, 2, 3, 4, 5]);
    expect(center).toBe(3);
    expect(mean([1, 2, 3, 4, 5])).toBe(3);
    expect(hi - center).toBeCloseTo(2.776445105 * Math.SQRT1_2, 8);
    expect(center - lo).toBeCloseTo(hi - center, 12);
  });

  test("one value has a mean and no interval, and excludes nothing", () => {
    const interval = meanInterval([7]);
    expect(interval).toEqual({ mean: 7, lo: Number.NaN, hi: Number.NaN });
    expect(excludesZero(interval)).toBe(false);
  });

  test("the paired difference of identical runs is exactly 0", () => {
    const runs = [1.1, 2.7, 0.3];
    expect(pairedDifference(runs, runs)).toEqual({ mean: 0, lo: 0, hi: 0, p: 1, won: 1.5 });
    expect(excludesZero(pairedDifference(runs, runs))).toBe(false);
  });

  test("swapping the pair flips the sign and keeps p", () => {
    const runs = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), {
      minLength: 12,
      maxLength: 12,
    });
    fc.assert(
      fc.property(runs, runs, (a, b) => {
        const ab = pairedDifference(a, b);
        const ba = pairedDifference(b, a);
        expect(ba.mean).toBeCloseTo(-ab.mean, 9);
        expect(ba.lo).toBeCloseTo(-ab.hi, 9);
        expect(ba.p).toBeCloseTo(ab.p, 9);
        expect(ab.won + ba.won).toBe(12);
      }),
      { seed: 1 },
    );
  });

  test("the interval excludes 0 exactly when p < 0.05", () => {
    const run = fc.double({ min: -3, max: 5, noNaN: true });
    fc.assert(
      fc.property(fc.array(run, { minLength: 2, maxLength: 30 }), (differences) => {
        const d = pairedDifference(
          differences,
          differences.map(() => 0),
        );
        if (Math.abs(d.p - 0.05) > 1e-9) expect(excludesZero(d)).toBe(d.p < 0.05);
      }),
      { seed: 1 },
    );
  });

  test("pairing cancels the differences between runs", () => {
    const common = [10, 80, 35, 60, 5];
    const a = common.map((c, i) => c + [0.1, -0.1, 0.2, 0, -0.2][i]!);
    const b = common.map((c) => c + 1);
    expect(excludesZero(pairedDifference(a, b))).toBe(true);
    expect(meanInterval(a).hi).toBeGreaterThan(meanInterval(b).lo);
  });

  test("refuses to pair different numbers of runs", () => {
    expect(() => pairedDifference([1, 2], [1])).toThrow("cannot pair 2 runs with 1");
  });
});

test("Holm by hand: 0.01, 0.04, 0.03, 0.005 of four", () => {
  const adjusted = holm([0.01, 0.04, 0.03, 0.005]);
  for (const [i, p] of [0.03, 0.06, 0.06, 0.02].entries()) expect(adjusted[i]).toBeCloseTo(p, 12);
  expect(holm([Number.NaN, 0.5])).toEqual([Number.NaN, 0.5]);
});

test("percentiles: ends, median and between", () => {
  expect(percentile([3, 1, 2], 0)).toBe(1);
  expect(percentile([3, 1, 2], 50)).toBe(2);
  expect(percentile([3, 1, 2], 100)).toBe(3);
  expect(percentile([10, 20], 99)).toBeCloseTo(19.9, 12);
  expect(percentile([], 50)).toBeNaN();
});

/** Integral of f from 0 to `end`. */
function simpson(f: (v: number) => number, end: number): number {
  const n = 20_000;
  let sum = f(0) + f(end);
  for (let i = 1; i < n; i++) sum += f((end * i) / n) * (i % 2 === 1 ? 4 : 2);
  return (sum * end) / n / 3;
}
