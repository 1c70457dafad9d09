import { describe, expect, it } from "vitest";
import { dot, dotAt } from "../linalg/linalg.ts";
import { Random } from "../random/random.ts";
import { createFeatures, difference, FEATURE_DEFAULTS, type FeatureOptions } from "./features.ts";
import { priorOf } from "./linear-duel.ts";
import type { Pool } from "./policy.ts";
import { createRounds } from "./rounds.ts";
import {
  Chain,
  gradient,
  langevinStep,
  Minibatch,
  potential,
  stepSize,
  type Target,
} from "./sgld.ts";

const FEATURES: [string, Partial<FeatureOptions>][] = [
  ["hadamard", {}],
  ["hadamard, centred", { centred: true }],
  ["hadamard, scaled metadata", { metadata: "scaled" }],
  ["addition", { features: "addition" }],
  ["category", { features: "category" }],
];

describe.each(FEATURES)("the potential on %s features", (_, options) => {
  const { features, rounds, target, theta } = problem(options);

  it.each([1, 2] as const)("is eq. 2 with its cap, ties and weights, chain %d", (j) => {
    for (const cap of CAPS) {
      let U = 0;
      for (let i = 0; i < theta.length; i++) {
        U += (theta[i]! - target.mean[i]!) ** 2 / (2 * target.sd[i]! ** 2);
      }
      for (let i = 0; i < rounds.length; i++) {
        const { a, b, win, weight } = rounds.vote(i);
        const rows = features.rows(rounds.x.row(i).slice());
        const d = features.dimension;
        const score = Array.from({ length: 4 }, (_, k) => dotAt(rows, k * d, theta, 0, d));
        const sigma = (z: number) => Math.log(1 + Math.exp(-z));
        const z = dot(theta, difference(rows, d, a, b));
        U += target.eta * weight * (win * sigma(z) + (1 - win) * sigma(-z));
        const other = j === 1 ? b : a;
        U -= target.mu * Math.min(cap, Math.max(...score.map((value) => value - score[other]!)));
      }
      expect(potential({ ...target, cap }, rounds, j, theta)).toBeCloseTo(U, 10);
    }
  });

  it.each([1, 2] as const)("has the gradient of its finite differences, chain %d", (j) => {
    for (const mu of [0, target.mu]) {
      for (const cap of CAPS) {
        const at = (point: Float64Array) => potential({ ...target, mu, cap }, rounds, j, point);
        const all = Int32Array.from({ length: rounds.length }, (_, i) => i);
        const exact = gradient({ ...target, mu, cap }, rounds, j, theta, all);
        exact.forEach((slope, i) => {
          const h = 1e-5;
          const up = theta.slice();
          const down = theta.slice();
          up[i]! += h;
          down[i]! -= h;
          expect(slope).toBeCloseTo((at(up) - at(down)) / (2 * h), 6);
        });
      }
    }
  });

  it("has a minibatch gradient whose mean over all batches of 3 is the gradient", () => {
    const all = Int32Array.from({ length: rounds.length }, (_, i) => i);
    const exact = gradient(target, rounds, 1, theta, all);
    const sum = new Float64Array(exact.length);
    let batches = 0;
    for (let p = 0; p < all.length; p++) {
      for (let q = p + 1; q < all.length; q++) {
        for (let r = q + 1; r < all.length; r++) {
          const estimate = gradient(target, rounds, 1, theta, Int32Array.of(p, q, r));
          for (let i = 0; i < sum.length; i++) sum[i]! += estimate[i]!;
          batches++;
        }
      }
    }
    exact.forEach((slope, i) => {
      expect(sum[i]! / batches).toBeCloseTo(slope, 10);
    });
  });
});

describe("the feel-good term", () => {
  it("is capped in some of the test rounds and not in others", () => {
    const { rounds, target, theta } = problem({});
    const value = (cap: number) => potential({ ...target, cap }, rounds, 1, theta);
    const [low, high] = CAPS;
    expect(value(low)).toBeGreaterThan(value(high));
    expect(value(low)).toBeLessThan(value(0));
    expect(value(low) - value(high)).toBeLessThan(value(0) - value(high));
  });

  it("is the only difference between the chains", () => {
    const { rounds, target, theta } = problem({});
    const calm = { ...target, mu: 0 };
    expect(potential(calm, rounds, 1, theta)).toBe(potential(calm, rounds, 2, theta));
    expect(potential(target, rounds, 1, theta)).not.toBe(potential(target, rounds, 2, theta));
  });
});

describe("Minibatch", () => {
  it("takes all rounds if there are at most B", () => {
    const five = new Minibatch(5);
    for (const t of [0, 1, 5]) expect([...five.draw(t, Random.seeded(1))]).toEqual(range(t));
  });

  it("draws the same as a new shuffle each time, for any number of draws and rounds", () => {
    const minibatch = new Minibatch(7);
    for (let n = 0; n < 200; n++) {
      const t = 1 + ((n * 13) % 40);
      const order = range(t);
      const random = Random.seeded(n);
      for (let i = 0; t > 7 && i < 7; i++) {
        const j = i + random.integer(t - i);
        [order[i], order[j]] = [order[j]!, order[i]!];
      }
      expect([...minibatch.draw(t, Random.seeded(n))]).toEqual(order.slice(0, 7));
    }
  });

  it("draws without replacement, every pair of rounds equally often", () => {
    const random = Random.seeded(2);
    const together = new Map<string, number>();
    const n = 20_000;
    const three = new Minibatch(3);
    for (let i = 0; i < n; i++) {
      const batch = [...three.draw(6, random)];
      expect(new Set(batch).size).toBe(3);
      for (const p of batch) {
        for (const q of batch) {
          if (p < q) together.set(`${p},${q}`, (together.get(`${p},${q}`) ?? 0) + 1);
        }
      }
    }
    // C(4,1) / C(6,3) = 1/5 of the batches hold a given pair; 5 standard errors.
    expect(together.size).toBe(15);
    for (const count of together.values()) {
      expect(Math.abs(count - n / 5)).toBeLessThan(5 * Math.sqrt(n * 0.2 * 0.8));
    }
  });
});

describe("the Langevin step", () => {
  it("has the size 0.2 / (sd^-2 + eta/4 t mean|v|^2) if all coefficients have the same sd", () => {
    const { features, rounds } = problem({ sd: 3 }, () => 1);
    const sd = 3;
    let mean = 0;
    for (let i = 0; i < rounds.length; i++) {
      const { a, b } = rounds.vote(i);
      const rows = features.rows(rounds.x.row(i).slice());
      const v = difference(rows, features.dimension, a, b);
      mean += dot(v, v) / rounds.length;
    }
    const target: Target = {
      mean: features.priorMean,
      sd: features.priorSd,
      eta: 0.7,
      mu: 0,
      cap: 1,
    };
    const expected = 0.2 / (sd ** -2 + 0.25 * target.eta * rounds.length * mean);
    expect(stepSize(target, rounds, 0.2) * sd ** 2).toBeCloseTo(expected, 12);
  });

  it("samples the prior without votes, with variance 1 / (1 - eps / 2)", () => {
    // z <- (1 - eps) z + sqrt(2 eps) xi, in prior sds, has the variance v = (1 - eps)^2 v + 2 eps.
    const mean = Float64Array.of(0, 1, -2);
    const sd = Float64Array.of(1, 0.15, 5);
    const eps = 0.2;
    const theta = mean.slice();
    const random = Random.seeded(3);
    const n = 100_000;
    const sum = new Float64Array(3);
    const squares = new Float64Array(3);
    for (let t = 0; t < n; t++) {
      const slope = theta.map((value, i) => (value - mean[i]!) / sd[i]! ** 2);
      langevinStep(theta, slope, eps, sd, random);
      for (let i = 0; i < 3; i++) {
        const z = (theta[i]! - mean[i]!) / sd[i]!;
        sum[i]! += z;
        squares[i]! += z * z;
      }
    }
    const variance = 1 / (1 - eps / 2);
    const rho = 1 - eps;
    // Standard errors of the mean and of the mean square of an AR(1) process; 5 of them.
    const seMean = Math.sqrt((variance * (1 + rho)) / (1 - rho) / n);
    const seSquare = variance * Math.sqrt((2 * (1 + rho ** 2)) / (1 - rho ** 2) / n);
    for (let i = 0; i < 3; i++) {
      expect(Math.abs(sum[i]! / n)).toBeLessThan(5 * seMean);
      expect(Math.abs(squares[i]! / n - variance)).toBeLessThan(5 * seSquare);
    }
    expect(variance - 1).toBeGreaterThan(5 * seSquare);
  });
});

describe("a chain", () => {
  // sigma is log(1 + e^-z); descending the sigmoid itself would go the other way.
  it.each([1, 0])("moves towards the preferred answer, win %d", (win) => {
    for (const mu of [0, 1e-3]) {
      const { features, rounds, target } = problem({}, undefined, 0);
      const x = Float64Array.of(0.5, -0.2, 0.3, 0.8, 0.1);
      for (let i = 0; i < 200; i++) rounds.add(x, { a: 0, b: 2, win, weight: 1 });
      const chain = new Chain({ ...target, mu }, 1, { steps: 500, batch: 32, step: 0.2 });
      chain.advance(rounds, Random.seeded(4));
      const z = dot(chain.theta, difference(features.rows(x), features.dimension, 0, 2));
      expect(Math.sign(z)).toBe(win === 1 ? 1 : -1);
      expect(Math.abs(z)).toBeGreaterThan(1);
    }
  });

  it("stays at 0 if all votes are ties", () => {
    const { features, rounds, target } = problem({}, undefined, 0);
    const x = Float64Array.of(0.5, -0.2, 0.3, 0.8, 0.1);
    for (let i = 0; i < 2000; i++) rounds.add(x, { a: 0, b: 2, win: 0.5, weight: 1 });
    const chain = new Chain({ ...target, mu: 0 }, 1, { steps: 500, batch: 2000, step: 0.2 });
    chain.advance(rounds, Random.seeded(5));
    const z = dot(chain.theta, difference(features.rows(x), features.dimension, 0, 2));
    // Its variance is at most 4 / 2000, times 1.1 because of the bias of the step.
    expect(Math.abs(z)).toBeLessThan(4 * Math.sqrt((1.2 * 4) / 2000));
  });
});

/** A cap that the feel-good terms of some test rounds exceed, and one that none exceeds. */
const CAPS = [0.4, 100] as const;

/** Four models and nine rounds with wins, losses, ties, weights, and a model against itself. */
function problem(
  options: Partial<FeatureOptions>,
  weigh: (i: number) => number = (i) => [1, 0, 2.5][i % 3]!,
  t = 9,
) {
  const random = Random.seeded(7);
  const vector = (size: number) => Float64Array.from({ length: size }, () => random.normal());
  const pool: Pool = {
    models: ["ada", "bob", "cyd", "dan"],
    categories: ["target", "code", "maths"],
    centroids: [vector(5), vector(5), vector(5)],
    told: [vector(3), vector(3), vector(3), vector(3)],
    costs: [vector(3), vector(3), vector(3), vector(3)],
  };
  const settings = { ...FEATURE_DEFAULTS, ...options };
  const features = createFeatures(pool, settings);
  const prior = priorOf(features, { ...settings, scale: 3 });
  const rounds = createRounds(pool, features, settings, prior.sd);
  for (let i = 0; i < t; i++) {
    const a = i % 4;
    const b = i === 5 ? a : (a + 1 + (i % 3)) % 4;
    rounds.add(vector(5), { a, b, win: [1, 0, 0.5][i % 3]!, weight: weigh(i) });
  }
  const target: Target = { ...prior, eta: 0.8, mu: 0.3, cap: 1 };
  const theta = prior.mean.map((value, i) => value + prior.sd[i]! * random.normal());
  return { features, rounds, target, theta };
}

function range(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i);
}
