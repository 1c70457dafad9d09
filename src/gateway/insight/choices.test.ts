import { expect, it } from "vitest";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { dot } from "../../core/linalg/linalg.ts";
import { Random } from "../../core/random/random.ts";
import { advantageOf } from "./advantage.ts";
import { choicesAt, meanPrice, meanUtilityOf } from "./choices.ts";
import type { TrafficQuery } from "./traffic.ts";

const [K, M] = [4, 3];
const random = Random.seeded(5);
const row = (length: number) => Float64Array.from({ length }, () => random.uniform());

/** Queries of all mixtures; model k costs k + 1. */
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

const world = newWorld();
const values = traffic.map(({ w }) => world.utilities(w));
const always = (k: number) => traffic.map(() => k);

it("a world's mean over the choices is that of the queries one by one", () => {
  for (const tradeoff of [0, 2, 5, 8]) {
    const choices = choicesAt(tradeoff, traffic, values);
    const each = choices.map((k, i) => {
      const f = values[i]!;
      return f[k]! - f.reduce((sum, value) => sum + value, 0) / K;
    });
    const mean = each.reduce((sum, value) => sum + value, 0) / each.length;
    expect(meanUtilityOf(choices, traffic)(world)).toBeCloseTo(mean, 12);
  }
});

it("the trade-off goes from the best to the cheapest, and the price never rises on the way", () => {
  const best = values.map((f) => f.indexOf(Math.max(...f)));
  expect(choicesAt(0, traffic, values)).toEqual(best);
  expect(choicesAt(10, traffic, values)).toEqual(always(0));
  const prices = Array.from({ length: 21 }, (_, i) =>
    meanPrice(choicesAt(i / 2, traffic, values), traffic),
  );
  expect(prices).toEqual(prices.toSorted((a, b) => b - a));
  expect(prices.at(-1)).toBeCloseTo(1 / K, 12);
});

it("what is best for each query is worth no less than one model for all, where the truth is known", () => {
  for (const tradeoff of [0, 3, 6]) {
    const choices = choicesAt(tradeoff, traffic, values);
    const found = advantageOf(choices, tradeoff, traffic, values, [world])!;
    expect(found.sure).toBe(1);
    expect(found.mean).toBeGreaterThanOrEqual(0);
    expect(found.lo).toBeCloseTo(found.mean, 12);
  }
});

it("in worlds that are otherwise it may be worth less; the same choices are worth the same in all", () => {
  const worlds = Array.from({ length: 200 }, newWorld);
  const choices = choicesAt(0, traffic, values);
  const { over, sure } = advantageOf(choices, 0, traffic, values, worlds)!;
  expect(sure).toBeGreaterThan(0);
  expect(sure).toBeLessThan(1);
  const same = advantageOf(always(over), 0, traffic, values, worlds)!;
  expect(same.sure).toBe(1);
  for (const gain of [same.mean, same.lo, same.hi]) expect(gain).toBeCloseTo(0, 12);
});

it("nothing is said without queries, without worlds, or where nobody can answer all", () => {
  expect(advantageOf([], 3, [], [], [world])).toBeNull();
  expect(advantageOf(always(0), 3, traffic, values, [])).toBeNull();
  const apart = traffic.map((query, i) => ({ ...query, candidates: [i % 2] }));
  expect(advantageOf(always(0), 3, apart, values, [world])).toBeNull();
});
