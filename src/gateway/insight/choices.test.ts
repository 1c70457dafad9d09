import { expect, it } from "vitest";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { dot } from "../../core/linalg/linalg.ts";
import { Random } from "../../core/random/random.ts";
import { advantageOf, choicesAt, meanPrice, meanUtilityOf } from "./tradeoff-curve.ts";
import type { TrafficQuery } from "./traffic.ts";

const [K, M] = [4, 3];
const random = Random.seeded(5);
const row = (length: number) => Float64Array.from({ length }, () => random.uniform());

/** Random queries; model k costs k + 1. */
const traffic = Array.from({ length: 40 }, (): TrafficQuery => {
  const shares = row(M);
  const total = shares.reduce((sum, share) => sum + share, 0);
  return {
    w: shares.map((share) => share / total),
    candidates: Array.from({ length: K }, (_, k) => k),
    costs: Float64Array.from({ length: K }, (_, k) => k + 1),
    served: [0],
  };
});

function newWorld(): PosteriorSample {
  const cells = Array.from({ length: K }, () => row(M));
  return {
    scale: 1,
    margin: 0.5,
    utilities: (w) => Float64Array.from(cells, (cell) => dot(w, cell)),
  };
}

const sample = newWorld();
const values = traffic.map(({ w }) => sample.utilities(w));
const always = (k: number) => traffic.map(() => k);

it("computes the same mean utility as a loop over the queries", () => {
  for (const tradeoff of [0, 2, 5, 8]) {
    const choices = choicesAt(tradeoff, traffic, values);
    const each = choices.map((k, i) => {
      const f = values[i]!;
      return f[k]! - f.reduce((sum, value) => sum + value, 0) / K;
    });
    const mean = each.reduce((sum, value) => sum + value, 0) / each.length;
    expect(meanUtilityOf(choices, traffic)(sample)).toBeCloseTo(mean, 12);
  }
});

it("goes from the best to the cheapest model without ever raising the price", () => {
  const best = values.map((f) => f.indexOf(Math.max(...f)));
  expect(choicesAt(0, traffic, values)).toEqual(best);
  expect(choicesAt(10, traffic, values)).toEqual(always(0));
  const prices = Array.from({ length: 21 }, (_, i) =>
    meanPrice(choicesAt(i / 2, traffic, values), traffic),
  );
  expect(prices).toEqual(prices.toSorted((a, b) => b - a));
  expect(prices.at(-1)).toBeCloseTo(1 / K, 12);
});

it("gives routing an advantage over one model if the values are the truth", () => {
  for (const tradeoff of [0, 3, 6]) {
    const choices = choicesAt(tradeoff, traffic, values);
    const found = advantageOf(choices, tradeoff, traffic, values, [sample])!;
    expect(found.sure).toBe(1);
    expect(found.mean).toBeGreaterThanOrEqual(0);
    expect(found.lo).toBeCloseTo(found.mean, 12);
  }
});

it("can be negative in samples that disagree with the values, and is 0 if routing chooses the same single model", () => {
  const samples = Array.from({ length: 200 }, newWorld);
  const choices = choicesAt(0, traffic, values);
  const { over, sure } = advantageOf(choices, 0, traffic, values, samples)!;
  expect(sure).toBeGreaterThan(0);
  expect(sure).toBeLessThan(1);
  const same = advantageOf(always(over), 0, traffic, values, samples)!;
  expect(same.sure).toBe(1);
  for (const gain of [same.mean, same.lo, same.hi]) expect(gain).toBeCloseTo(0, 12);
});

it("is null without queries, without samples, or without a model that can answer all queries", () => {
  expect(advantageOf([], 3, [], [], [sample])).toBeNull();
  expect(advantageOf(always(0), 3, traffic, values, [])).toBeNull();
  const apart = traffic.map((query, i) => ({ ...query, candidates: [i % 2] }));
  expect(advantageOf(always(0), 3, apart, values, [sample])).toBeNull();
});
