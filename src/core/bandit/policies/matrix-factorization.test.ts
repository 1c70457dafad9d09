import { describe, expect, it } from "vitest";
import { Random } from "../../random/random.ts";
import { softplus } from "../btl.ts";
import {
  duelFeatures,
  type Factors,
  gradientStep,
  matrixFactorization,
} from "./matrix-factorization.ts";
import { at, K, randomDuels, taught, valuesAt } from "./votes.case.ts";

const H = 3;
const D = 4;

function randomFactors(seed: number): Factors {
  const random = Random.seeded(seed);
  const normals = (n: number) => Float64Array.from({ length: n }, () => random.normal());
  return { P: [normals(H), normals(H), normals(H)], W: normals(H * D), w: normals(H) };
}

/** Computes delta(M, q) = w . (P_M / |P_M| o W q) directly. */
function delta({ P, W, w }: Factors, M: number, q: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < H; i++) {
    let Wq = 0;
    for (let j = 0; j < D; j++) Wq += W[i * D + j]! * q[j]!;
    sum += w[i]! * (P[M]![i]! / Math.hypot(...P[M]!)) * Wq;
  }
  return sum;
}

describe("gradientStep", () => {
  const q = Float64Array.of(0.5, -0.3, 0.8, 0.1);
  const vote = { q, a: 2, b: 0, win: 1, offset: 0.4 };
  const logLikelihood = (factors: Factors) =>
    -softplus(-(vote.offset + delta(factors, vote.a, q) - delta(factors, vote.b, q)));

  it("moves every factor along the gradient of the log-likelihood of the vote", () => {
    const before = randomFactors(1);
    const after = structuredClone(before);
    gradientStep(after, vote, 1);
    const arrays = (f: Factors) => [...f.P, f.W, f.w];
    arrays(before).forEach((array, n) => {
      for (let i = 0; i < array.length; i++) {
        const moved = (h: number) => {
          const factors = structuredClone(before);
          arrays(factors)[n]![i]! += h;
          return logLikelihood(factors);
        };
        const slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        expect(arrays(after)[n]![i]! - array[i]!).toBeCloseTo(slope, 8);
      }
    });
  });

  it("does not change a model that did not take part", () => {
    const factors = randomFactors(2);
    const before = factors.P[1]!.slice();
    gradientStep(factors, vote, 1);
    expect(factors.P[1]).toEqual(before);
  });

  it("duelFeatures times w is the logit", () => {
    const factors = randomFactors(3);
    const logit = duelFeatures(factors, q, 1, 2).reduce((sum, f, i) => sum + f * factors.w[i]!, 0);
    expect(logit).toBeCloseTo(delta(factors, 1, q) - delta(factors, 2, q), 12);
  });
});

describe("matrix-factorization", () => {
  it("has equal values before the first vote, and learns which model wins in which category", () => {
    expect([...valuesAt(taught(matrixFactorization, []), at(0).x)]).toEqual(new Array(K).fill(0));
    // Model m wins in category m, model 3 loses everywhere.
    const votes = randomDuels(400, 1).map((vote, t) => {
      const strength = (k: number) => (k === at(t).m ? 2 : k === 3 ? 0 : 1);
      const gap = strength(vote.a) - strength(vote.b);
      return { ...vote, weight: 1, win: gap > 0 ? 1 : gap < 0 ? 0 : 0.5 };
    });
    const policy = taught(matrixFactorization, votes);
    for (let t = 700; t < 720; t++) {
      const values = valuesAt(policy, at(t).x);
      expect(values.indexOf(Math.max(...values))).toBe(at(t).m);
    }
  });
});
