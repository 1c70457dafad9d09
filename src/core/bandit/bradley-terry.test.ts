import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { columns, type PlainVote, randomVotes, slowBradleyTerry } from "./bradley-terry.case.ts";
import { evaluate, fitBradleyTerry } from "./bradley-terry.ts";

const K = 4;
const PRIOR = Float64Array.from([0.3, -0.2, 0, 1]);
const PRECISION = 1.7;
const votes = (count: number, seed: number) => randomVotes(count, K, Random.seeded(seed));

describe("fitBradleyTerry", () => {
  it.each([0, 1, 5, 40])("agrees with plain gradient ascent on %i votes", (count) => {
    const past = votes(count, count);
    const { mean } = fitBradleyTerry(columns(past), PRIOR, PRECISION);
    expectClose(mean, slowBradleyTerry(past, [...PRIOR], PRECISION));
  });

  it("converges far from the prior, after surprising votes and votes of weight 1e6", () => {
    const past: PlainVote[] = [
      ...votes(10, 1),
      { a: 0, b: 1, win: 1, weight: 1e6, offset: -20 },
      { a: 2, b: 3, win: 0, weight: 50, offset: 0 },
    ];
    const prior = Float64Array.of(-30, 30, 9, 0);
    const { mean } = fitBradleyTerry(columns(past), prior, 0.01);
    const { gradient } = evaluate(columns(past), mean, prior, 0.01);
    for (const g of gradient) expect(Math.abs(g)).toBeLessThan(1e-6);
  });

  it("does not depend on which of two answers is named first", () => {
    const past = votes(30, 2);
    const swapped = past.map(({ a, b, win, weight, offset }) => {
      return { a: b, b: a, win: 1 - win, weight, offset: -offset };
    });
    const fit = fitBradleyTerry(columns(past), PRIOR, PRECISION);
    expectClose(fitBradleyTerry(columns(swapped), PRIOR, PRECISION).mean, fit.mean);
  });

  it("has the covariance that the curvature of its objective implies", () => {
    const past = columns(votes(25, 3));
    const { mean, covariance } = fitBradleyTerry(past, PRIOR, PRECISION);
    const h = 1e-3;
    const at = (i: number, di: number, j: number, dj: number) => {
      const r = mean.slice();
      r[i]! += di * h;
      r[j]! += dj * h;
      return evaluate(past, r, PRIOR, PRECISION).value;
    };
    const second = (i: number, j: number) =>
      (at(i, 1, j, 1) - at(i, 1, j, -1) - at(i, -1, j, 1) + at(i, -1, j, -1)) / (4 * h * h);
    for (let i = 0; i < K; i++) {
      for (let j = 0; j < K; j++) {
        let product = 0;
        for (let k = 0; k < K; k++) product -= second(i, k) * covariance[k * K + j]!;
        expect(product).toBeCloseTo(i === j ? 1 : 0, 5);
      }
    }
  });

  it("has the width of the prior without votes, and less between models that duelled", () => {
    const width = Math.sqrt(2 / PRECISION);
    expect(fitBradleyTerry(columns([]), PRIOR, PRECISION).width(0, 1)).toBeCloseTo(width, 12);
    const met = [{ a: 0, b: 1, win: 1, weight: 1, offset: 0 }];
    const fit = fitBradleyTerry(columns(met), PRIOR, PRECISION);
    expect(fit.width(0, 1)).toBeLessThan(width);
    expect(fit.width(2, 3)).toBeCloseTo(width, 12);
    expect(fit.width(2, 2)).toBe(0);
  });

  it("moves with the prior mean by precision * covariance", () => {
    const past = columns(votes(20, 4));
    const { mean, covariance } = fitBradleyTerry(past, PRIOR, PRECISION);
    const h = 1e-4;
    for (let j = 0; j < K; j++) {
      const moved = PRIOR.slice();
      moved[j]! += h;
      const after = fitBradleyTerry(past, moved, PRECISION).mean;
      for (let i = 0; i < K; i++) {
        const slope = (after[i]! - mean[i]!) / h;
        expect(slope).toBeCloseTo(PRECISION * covariance[i * K + j]!, 3);
      }
    }
  });
});

function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(actual.length).toBe(expected.length);
  for (let k = 0; k < expected.length; k++) expect(actual[k]).toBeCloseTo(expected[k]!, 6);
}
