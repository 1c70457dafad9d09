import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { bestPair, sampledPair, type UtilityMixture } from "./pair-rule.ts";

const OPTIONS = { alpha: 1.5, patience: 0.03, minGain: 0 };

function randomOutlook(random: Random, K: number): UtilityMixture {
  const draw = (scale: number) => Float64Array.from({ length: K }, () => scale * random.normal());
  const weights = [0.5, 0.3, 0.2];
  const components = weights.map((weight, e) => ({
    weight,
    scale: [1, 3, 10][e]!,
    values: draw(0.2),
    variances: draw(0.15).map((value) => value ** 2),
    toldVariance: 0.05,
  }));
  const mean = Float64Array.from({ length: K }, (_, k) =>
    components.reduce((sum, component) => sum + component.weight * component.values[k]!, 0),
  );
  return { components, mean, told: draw(0.1), votes: random.integer(1000) };
}

/** Computes f_i + f_j + alpha W_ij L_ij of all pairs, directly from the formula. */
function obvious(
  mixture: UtilityMixture,
  candidates: readonly number[],
): readonly [number, number] {
  let best = -Infinity;
  let pair: [number, number] = [0, 0];
  for (const a of candidates) {
    for (const b of candidates) {
      if (b < a) continue;
      const f = (k: number) => mixture.mean[k]! - (mixture.penalty?.[k] ?? 0);
      let W2 = 0;
      let scale2 = 0;
      for (const { weight, scale, values, variances, toldVariance } of mixture.components) {
        scale2 += weight * scale ** 2;
        if (a === b) continue;
        W2 += weight * (variances[a]! + variances[b]!);
        W2 += weight * toldVariance * (mixture.told[a]! - mixture.told[b]!) ** 2;
        W2 += weight * (values[a]! - values[b]! - (mixture.mean[a]! - mixture.mean[b]!)) ** 2;
      }
      const nq = ((3 + 0.03 * mixture.votes) * scale2 * W2) / 4;
      const price = a === b ? 0 : (mixture.penalty?.[a] ?? 0) + (mixture.penalty?.[b] ?? 0);
      const value = f(a) + f(b) - price + 1.5 * Math.sqrt(W2) * Math.sqrt(nq / (1 + nq));
      if (value > best) {
        best = value;
        pair = f(a) >= f(b) ? [a, b] : [b, a];
      }
    }
  }
  return pair;
}

describe("bestPair", () => {
  it("agrees with a search over all pairs", () => {
    const random = Random.seeded(1);
    for (let i = 0; i < 300; i++) {
      const K = 2 + random.integer(20);
      const plain = randomOutlook(random, K);
      const penalty = plain.mean.map(() => 0.1 * random.uniform());
      const mixture = i % 2 === 0 ? plain : { ...plain, penalty };
      const candidates = [...mixture.mean.keys()].filter(() => random.uniform() < 0.8);
      if (candidates.length === 0) continue;
      expect(bestPair(mixture, candidates, OPTIONS, random)).toEqual(obvious(mixture, candidates));
    }
  });

  it("breaks ties at random", () => {
    const components = [
      {
        weight: 1,
        scale: 3,
        values: new Float64Array(4),
        variances: new Float64Array(4).fill(0.02),
        toldVariance: 0,
      },
    ];
    const told = new Float64Array(4);
    const mixture: UtilityMixture = { components, mean: new Float64Array(4), told, votes: 100 };
    const seen = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      seen.add([...bestPair(mixture, [0, 1, 2, 3], OPTIONS, Random.seeded(seed))].sort().join());
    }
    expect(seen.size).toBe(6);
  });

  it("returns a single answer if the gain of the duel is at most minGain", () => {
    const random = Random.seeded(2);
    const mixture = randomOutlook(random, 6);
    const all = [0, 1, 2, 3, 4, 5];
    const [a, b] = bestPair(mixture, all, { ...OPTIONS, minGain: 10 }, random);
    expect(a).toBe(b);
    expect(a).toBe(mixture.mean.indexOf(Math.max(...mixture.mean)));
  });

  it("avoids a model whose penalty outweighs its value", () => {
    const random = Random.seeded(3);
    const mixture = randomOutlook(random, 4);
    const penalty = Float64Array.of(100, 0, 0, 0);
    expect(bestPair({ ...mixture, penalty }, [0, 1, 2, 3], OPTIONS, random)).not.toContain(0);
  });
});

describe("sampledPair", () => {
  it("plays each model with the probability that a draw makes it the best", () => {
    const components = [
      {
        weight: 1,
        scale: 3,
        values: Float64Array.of(0.1, 0),
        variances: Float64Array.of(0.01, 0.01),
        toldVariance: 0,
      },
    ];
    const mixture: UtilityMixture = {
      components,
      mean: components[0]!.values,
      told: new Float64Array(2),
      votes: 0,
    };
    let first = 0;
    const random = Random.seeded(4);
    for (let i = 0; i < 4000; i++) {
      first += sampledPair(mixture, [0, 1], random).filter((k) => k === 0).length;
    }
    // P(z > -0.1 / sqrt(0.02)) = 0.760; standard error 0.005.
    expect(Math.abs(first / 8000 - 0.76)).toBeLessThan(0.02);
  });
});
