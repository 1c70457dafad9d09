import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { expectedGain, mostValuablePair, type UtilityMixture } from "./pair-rule.ts";

const OPTIONS = { horizon: 300, minGain: 0 };
const all = [0, 1, 2, 3];

function randomOutlook(random: Random, K: number): UtilityMixture {
  const draw = (scale: number) => Float64Array.from({ length: K }, () => scale * random.normal());
  const weights = [0.5, 0.3, 0.2];
  const components = weights.map((weight, e) => ({
    weight,
    scale: [1, 3, 10][e]!,
    values: draw(0.2),
    variances: draw(0.15).map((value) => value ** 2),
    toldVariance: 0.05,
    reach: [0.2, 0.5, 1][e]!,
    trustsTold: true,
  }));
  const mean = Float64Array.from({ length: K }, (_, k) =>
    components.reduce((sum, component) => sum + component.weight * component.values[k]!, 0),
  );
  return { components, mean, told: draw(0.1), votes: random.integer(1000) };
}

/** A mixture of one component without told scores. */
function gaussian(values: number[], variances: number[], reach = 1, votes = 100): UtilityMixture {
  const mean = Float64Array.from(values);
  const own = Float64Array.from(variances);
  const shape = { weight: 1, scale: 3, toldVariance: 0, reach, trustsTold: false };
  const components = [{ ...shape, values: mean, variances: own }];
  return { components, mean, told: new Float64Array(values.length), votes };
}

/** E max(0, N(-delta, sd^2)) by numerical integration. */
function integral(delta: number, sd: number): number {
  const [steps, top] = [20_000, 12 * sd];
  let sum = 0;
  for (let i = 0; i < steps; i++) {
    const gain = ((i + 0.5) * top) / steps;
    sum += gain * Math.exp(-(((gain + delta) / sd) ** 2) / 2);
  }
  return (sum * top) / steps / (sd * Math.sqrt(2 * Math.PI));
}

/** Worth of a duel of the leader with k, directly from the formula, over all powers of 2. */
function worth(mixture: UtilityMixture, leader: number, k: number): number {
  const { components, mean, told, penalty, votes } = mixture;
  const p = (i: number) => penalty?.[i] ?? 0;
  const delta = mean[leader]! - p(leader) - (mean[k]! - p(k));
  let [W2, shared, s2] = [0, 0, 0];
  for (const { weight, scale, values, variances, toldVariance, reach } of components) {
    const own = variances[leader]! + variances[k]!;
    const gap = values[leader]! - values[k]! - (mean[leader]! - mean[k]!);
    const between = toldVariance * (told[leader]! - told[k]!) ** 2 + gap ** 2;
    W2 += weight * (own + between);
    shared += weight * (reach * own + between);
    s2 += weight * scale ** 2;
  }
  const H = ((300 + votes / 2) * shared) / W2;
  let most = 0;
  for (let n = 1; n < H; n *= 2) {
    const nq = (n * s2 * W2) / 4;
    const value = ((H - n) * expectedGain(delta, Math.sqrt((W2 * nq) / (1 + nq)))) / n;
    most = Math.max(most, value);
  }
  return most - (delta + p(leader) + p(k)) / 2;
}

describe("mostValuablePair", () => {
  it("agrees with the formula for every challenger", () => {
    const random = Random.seeded(1);
    let duels = 0;
    for (let i = 0; i < 300; i++) {
      const K = 2 + random.integer(20);
      const plain = randomOutlook(random, K);
      const penalty = plain.mean.map(() => 0.1 * random.uniform());
      const mixture = i % 2 === 0 ? plain : { ...plain, penalty };
      const candidates = [...mixture.mean.keys()].filter(() => random.uniform() < 0.8);
      if (candidates.length === 0) continue;
      const [leader, second] = mostValuablePair(mixture, candidates, OPTIONS, random);
      const f = (k: number) => mixture.mean[k]! - (mixture.penalty?.[k] ?? 0);
      expect(f(leader)).toBe(Math.max(...candidates.map(f)));
      const worths = candidates.map((k) => (k === leader ? 0 : worth(mixture, leader, k)));
      const best = Math.max(...worths);
      expect(second).toBe(best > 0 ? candidates[worths.indexOf(best)] : leader);
      if (second !== leader) duels++;
    }
    expect(duels).toBeGreaterThan(100);
  });

  it("breaks ties at random", () => {
    const mixture = gaussian([0, 0, 0, 0], [0.02, 0.02, 0.02, 0.02]);
    const seen = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      seen.add([...mostValuablePair(mixture, all, OPTIONS, Random.seeded(seed))].sort().join());
    }
    expect(seen.size).toBe(6);
  });

  it("of equal models, the least certain one leads", () => {
    const mixture = gaussian([0, 0, 0, 0], [0.01, 0.01, 0.03, 0.02]);
    expect(mostValuablePair(mixture, all, OPTIONS, Random.seeded(1))).toEqual([2, 3]);
  });

  it("duels more if votes say more about other categories, and if more decisions will profit", () => {
    const options = (horizon: number) => ({ horizon, minGain: 0 });
    const duels = (reach: number, horizon: number) => {
      const mixture = gaussian([0.2, 0], [0.01, 0.01], reach, 0);
      const [a, b] = mostValuablePair(mixture, [0, 1], options(horizon), Random.seeded(1));
      return a !== b;
    };
    expect([duels(0.1, 300), duels(1, 300)]).toEqual([false, false]);
    expect([duels(0.1, 1e4), duels(1, 1e4)]).toEqual([false, true]);
  });

  it("duels a model with a low told score now and then, as long as the scores may be worthless", () => {
    const told = Float64Array.of(0.3, 0.25, 0, -0.55);
    const shape = { scale: 3, toldVariance: 0, reach: 1 };
    const trusting = {
      weight: 0.84,
      values: told,
      variances: told.map(() => 1e-4),
      trustsTold: true,
    };
    // Model 3 is the least certain one if the scores say nothing.
    const doubting = {
      weight: 0.16,
      values: new Float64Array(4),
      variances: Float64Array.of(0.01, 0.01, 0.01, 0.04),
      trustsTold: false,
    };
    const components = [trusting, doubting].map((component) => ({ ...shape, ...component }));
    const mean = told.map((score) => 0.84 * score);
    const share = (votes: number) => {
      const mixture = { components, mean, told, votes };
      let found = 0;
      for (let seed = 0; seed < 2000; seed++) {
        const pair = mostValuablePair(mixture, all, OPTIONS, Random.seeded(seed));
        if (pair[1] === 3) found++;
      }
      return found / 2000;
    };
    expect(share(0)).toBeCloseTo(0.4, 1);
    expect(share(30)).toBeCloseTo(0.1, 1);
    expect(share(300)).toBeCloseTo(0.013, 2);
  });

  it("returns a single answer if the gain of the duel is at most minGain", () => {
    const random = Random.seeded(2);
    const mixture = randomOutlook(random, 6);
    const six = [0, 1, 2, 3, 4, 5];
    const [a, b] = mostValuablePair(mixture, six, { ...OPTIONS, minGain: 1e4 }, random);
    expect(a).toBe(b);
    expect(a).toBe(mixture.mean.indexOf(Math.max(...mixture.mean)));
  });

  it("returns a single answer if nothing is uncertain", () => {
    const mixture = gaussian([0.1, 0.1], [0, 0]);
    const [a, b] = mostValuablePair(mixture, [0, 1], OPTIONS, Random.seeded(2));
    expect(a).toBe(b);
  });

  it("avoids a model whose penalty outweighs its value", () => {
    const random = Random.seeded(3);
    const mixture = randomOutlook(random, 4);
    const penalty = Float64Array.of(100, 0, 0, 0);
    expect(mostValuablePair({ ...mixture, penalty }, all, OPTIONS, random)).not.toContain(0);
  });
});

it("expectedGain is at most 4% below the integral", () => {
  for (const z of [-4, -2, -1.1, -1, -0.9, -0.3, 0, 0.3, 0.6, 1, 1.5, 2, 3, 4, 5]) {
    const ratio = expectedGain(z * 0.2, 0.2) / integral(z * 0.2, 0.2);
    expect(ratio).toBeGreaterThan(0.96);
    expect(ratio).toBeLessThan(1.001);
  }
});
