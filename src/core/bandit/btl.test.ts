import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { davidson, sigmoid, softplus } from "./btl.ts";

const RUNS = { seed: 1, numRuns: 500 };
const logit = fc.double({ min: -700, max: 700, noNaN: true });
const width = fc.double({ min: 0, max: 100, noNaN: true });

describe("sigmoid and softplus", () => {
  it("sigmoid(z) + sigmoid(-z) = 1: swapping the pair swaps the probabilities", () => {
    fc.assert(
      fc.property(logit, (z) => {
        expect(sigmoid(z) + sigmoid(-z)).toBeCloseTo(1, 15);
      }),
      RUNS,
    );
    expect(sigmoid(0)).toBe(0.5);
  });

  it("softplus(z) - softplus(-z) = z", () => {
    fc.assert(
      fc.property(logit, (z) => {
        expect(Math.abs(softplus(z) - softplus(-z) - z)).toBeLessThanOrEqual(1e-13);
      }),
      RUNS,
    );
  });

  it("exp(-softplus(-z)) is the sigmoid, which is P(y = 1) in the notation of the paper", () => {
    fc.assert(
      fc.property(logit, (z) => {
        // The exponential turns the rounding error of its argument into a relative error.
        const error = Math.abs(Math.exp(-softplus(-z)) / sigmoid(z) - 1);
        expect(error).toBeLessThanOrEqual(4 * Number.EPSILON * (1 + Math.abs(z)));
      }),
      RUNS,
    );
  });

  it("the slope of softplus is the sigmoid", () => {
    const h = 1e-5;
    for (const z of [-30, -3, -0.5, 0, 0.5, 3, 30]) {
      expect((softplus(z + h) - softplus(z - h)) / (2 * h)).toBeCloseTo(sigmoid(z), 8);
    }
  });

  it("neither overflow nor lose precision far from 0", () => {
    expect(sigmoid(1000)).toBe(1);
    expect(sigmoid(-1000)).toBe(0);
    expect(sigmoid(-700)).toBe(Math.exp(-700));
    expect(softplus(1000)).toBe(1000);
    expect(softplus(-1000)).toBe(0);
    expect(softplus(-700)).toBe(Math.exp(-700));
    expect([sigmoid(Infinity), sigmoid(-Infinity)]).toEqual([1, 0]);
  });
});

describe("davidson", () => {
  it("gives probabilities that sum to 1, and swapping the pair swaps them", () => {
    fc.assert(
      fc.property(logit, width, (z, w) => {
        const { a, tie, b } = davidson(z, w);
        expect(a + tie + b).toBeCloseTo(1, 14);
        expect(Math.min(a, tie, b)).toBeGreaterThanOrEqual(0);
        expect(davidson(-z, w)).toEqual({ a: b, tie, b: a });
      }),
      RUNS,
    );
  });

  it("is Bradley-Terry-Luce at width 0, and for votes with a winner at any width", () => {
    fc.assert(
      fc.property(fc.double({ min: -30, max: 30, noNaN: true }), width, (z, w) => {
        expect(davidson(z, 0).a).toBeCloseTo(sigmoid(z), 15);
        expect(davidson(z, 0).tie).toBe(0);
        const { a, b } = davidson(z, w);
        expect(a / (a + b)).toBeCloseTo(sigmoid(z), 14);
      }),
      RUNS,
    );
  });

  it("makes a third of the votes between equal models ties at width 1", () => {
    expect(davidson(0, 1)).toEqual({ a: 1 / 3, tie: 1 / 3, b: 1 / 3 });
  });

  it("has no ties and no overflow between very different models", () => {
    expect(davidson(2000, 1)).toEqual({ a: 1, tie: 0, b: 0 });
    expect(davidson(-2000, 1)).toEqual({ a: 0, tie: 0, b: 1 });
  });
});
