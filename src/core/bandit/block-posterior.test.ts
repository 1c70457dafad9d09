import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { BIAS, BlockPosterior, type Hypothesis, SLOPE, TOLD } from "./block-posterior.ts";
import { duelObservation, ratingObservation, stageObservation } from "./observation.ts";
import { GaussianPosterior } from "./posterior.ts";
import type { QueryContext } from "./query-context.ts";

const K = 3;
const M = 2;
const HYPOTHESIS: Hypothesis = {
  scale: 3,
  told: 1,
  toldSd: 0.3,
  cellSd: 0.2,
  correlation: 0.25,
  logPrior: 0,
};
const CONTEXT: QueryContext = { w: Float64Array.of(0.7, 0.3), told: Float64Array.of(0.2, 0, -0.2) };
const prior = (hypothesis = HYPOTHESIS) => BlockPosterior.prior(hypothesis, K, M);

/** The same model with the full covariance: [theta_1..theta_K; told; position]. */
function dense(): GaussianPosterior {
  const d = K * M + 2;
  const S = new Float64Array(d * d);
  for (let k = 0; k < K; k++) {
    for (let i = 0; i < M; i++) {
      for (let j = 0; j < M; j++) S[(k * M + i) * d + k * M + j] = 0.04 * (i === j ? 1 : 0.25);
    }
  }
  S[(d - 2) * (d + 1)] = 0.09;
  S[(d - 1) * (d + 1)] = 0.25;
  const mean = new Float64Array(d);
  mean[d - 2] = 1;
  return new GaussianPosterior(mean, S);
}

function denseFeature(a: number, b: number): Float64Array {
  const v = new Float64Array(K * M + 2);
  CONTEXT.w.forEach((w, m) => {
    v[a * M + m] = 3 * w;
    v[b * M + m] = -3 * w;
  });
  v[K * M] = 3 * (CONTEXT.told[a]! - CONTEXT.told[b]!);
  v[K * M + 1] = 1;
  return v;
}

describe("one vote", () => {
  it("updates the means and all kept blocks exactly", () => {
    const posterior = prior();
    const exact = dense();
    const duel = duelObservation(posterior, CONTEXT, 0, 2);
    const p = posterior.probability(duel);
    posterior.observe(duel, 1, 1);
    expect(p).toBeCloseTo(exact.update(denseFeature(0, 2), 1), 12);
    const d = exact.dimension;
    for (let k = 0; k < K; k++) {
      for (let i = 0; i < M; i++) {
        expect(posterior.means[k]![i]).toBeCloseTo(exact.mean[k * M + i]!, 12);
        for (let j = 0; j < M; j++) {
          const full = exact.covariance[(k * M + i) * d + k * M + j]!;
          expect(posterior.covariances[k]![i * M + j]).toBeCloseTo(full, 12);
        }
      }
    }
    expect(posterior.shared[TOLD]).toBeCloseTo(exact.mean[K * M]!, 12);
    expect(posterior.sharedVariance[TOLD]).toBeCloseTo(exact.covariance[K * M * (d + 1)]!, 12);
  });

  it("has the same effect with the pair and the outcome swapped, apart from the position bias", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (win) => {
        const one = prior();
        const other = prior();
        const plain = (posterior: BlockPosterior, a: number, b: number) => {
          const duel = duelObservation(posterior, CONTEXT, a, b);
          duel.shared[1] = 0;
          return duel;
        };
        one.observe(plain(one, 0, 1), win, 1);
        other.observe(plain(other, 1, 0), 1 - win, 1);
        for (let k = 0; k < K; k++) {
          one.means[k]!.forEach((m, i) => {
            expect(m).toBeCloseTo(other.means[k]![i]!, 12);
          });
        }
      }),
      { seed: 1, numRuns: 50 },
    );
  });

  it("raises the winner, lowers the loser and does not change the others", () => {
    const posterior = prior();
    const before = [0, 1, 2].map((k) => posterior.value(k, CONTEXT.w, 0));
    posterior.observe(duelObservation(posterior, CONTEXT, 0, 1), 1, 1);
    const after = [0, 1, 2].map((k) => posterior.value(k, CONTEXT.w, 0));
    expect(after[0]).toBeGreaterThan(before[0]!);
    expect(after[1]).toBeLessThan(before[1]!);
    expect(after[2]).toBe(before[2]);
  });

  it("of weight 0 changes nothing", () => {
    const posterior = prior();
    posterior.observe(duelObservation(posterior, CONTEXT, 0, 1), 1, 0);
    expect(posterior.means).toEqual(prior().means);
    expect(posterior.covariances).toEqual(prior().covariances);
  });
});

describe("many votes", () => {
  it("recover the true utilities up to a common constant", () => {
    const random = Random.seeded(5);
    const truth = [0.3, 0, -0.3];
    const posterior = prior({ ...HYPOTHESIS, told: 0, toldSd: 0 });
    for (let t = 0; t < 4000; t++) {
      const a = random.integer(K);
      const b = (a + 1 + random.integer(K - 1)) % K;
      const p = 1 / (1 + Math.exp(-3 * (truth[a]! - truth[b]!)));
      posterior.observe(duelObservation(posterior, CONTEXT, a, b), random.uniform() < p ? 1 : 0, 1);
    }
    const value = (k: number) => posterior.value(k, CONTEXT.w, 0);
    // 4000 votes at s = 3: standard error of a difference about 0.02.
    expect(Math.abs(value(0) - value(1) - 0.3)).toBeLessThan(0.06);
    expect(Math.abs(value(1) - value(2) - 0.3)).toBeLessThan(0.06);
  });

  it("keep every block symmetric and positive definite", () => {
    const random = Random.seeded(6);
    const posterior = prior();
    for (let t = 0; t < 20_000; t++) {
      const w = Float64Array.of(random.uniform(), random.uniform() < 0.1 ? 1e4 : random.uniform());
      const context = { w, told: CONTEXT.told };
      posterior.observe(
        duelObservation(posterior, context, t % K, (t + 1) % K),
        random.integer(2),
        1,
      );
    }
    for (const S of posterior.covariances) {
      expect(S[1]).toBe(S[2]);
      expect(S[0]).toBeGreaterThan(0);
      expect(S[0]! * S[3]! - S[1]! * S[2]!).toBeGreaterThanOrEqual(0);
    }
  });
});

describe("a ranking", () => {
  it("of two models is a duel without position bias", () => {
    const one = prior();
    const other = prior();
    const duel = duelObservation(other, CONTEXT, 2, 0);
    duel.shared[1] = 0;
    const stage = stageObservation(one, CONTEXT, 2, [0]);
    expect(one.probability(stage)).toBeCloseTo(other.probability(duel), 12);
    one.observe(stage, 1, 1);
    other.observe(duel, 1, 1);
    expect(one.means).toEqual(other.means);
  });

  it("has stages with the probabilities of Plackett-Luce", () => {
    const posterior = prior();
    const f = [0, 1, 2].map((k) => 3 * posterior.value(k, CONTEXT.w, CONTEXT.told[k]!));
    const total = f.reduce((sum, value) => sum + Math.exp(value), 0);
    const { logit } = stageObservation(posterior, CONTEXT, 1, [0, 2]);
    expect(1 / (1 + Math.exp(-logit))).toBeCloseTo(Math.exp(f[1]!) / total, 12);
  });
});

describe("a like", () => {
  it("raises its model and the general bias towards likes", () => {
    const posterior = prior();
    posterior.observe(ratingObservation(posterior, CONTEXT, 1), 1, 1);
    expect(posterior.value(1, CONTEXT.w, 0)).toBeGreaterThan(0);
    expect(posterior.shared[BIAS]).toBeGreaterThan(0);
    expect(posterior.value(0, CONTEXT.w, 0)).toBe(0);
  });

  it("increases the slope if likes depend on utility more steeply than votes", () => {
    const random = Random.seeded(7);
    const posterior = prior();
    for (let t = 0; t < 3000; t++) {
      const k = t % K;
      const p = 1 / (1 + Math.exp(-3 * 3 * CONTEXT.told[k]!));
      posterior.observe(ratingObservation(posterior, CONTEXT, k), random.uniform() < p ? 1 : 0, 1);
    }
    expect(posterior.shared[SLOPE]).toBeGreaterThan(1.2);
  });
});

describe("drift", () => {
  it("of 1 changes nothing, of 0 restores the prior", () => {
    const posterior = prior();
    posterior.observe(duelObservation(posterior, CONTEXT, 0, 1), 1, 1);
    const means = posterior.means.map((mean) => mean.slice());
    posterior.drift(1);
    expect(posterior.means).toEqual(means);
    posterior.drift(0);
    for (const mean of posterior.means) expect(mean.every((value) => value === 0)).toBe(true);
    expect(posterior.covariances).toEqual(prior().covariances);
    expect(posterior.shared[TOLD]).toBe(1);
  });
});

describe("a pending duel", () => {
  it("shrinks the variances of a copy and never those of the posterior itself", () => {
    const posterior = prior();
    const copy = posterior.shallowCopy();
    copy.anticipateVote(duelObservation(copy, CONTEXT, 0, 1), 1);
    expect(copy.variance(0, CONTEXT.w)).toBeLessThan(posterior.variance(0, CONTEXT.w));
    expect(copy.variance(2, CONTEXT.w)).toBe(posterior.variance(2, CONTEXT.w));
    expect(posterior.covariances).toEqual(prior().covariances);
    expect(copy.means).toEqual(posterior.means);
    // At win probability 1/2 a vote changes the variances exactly as anticipated.
    const flat: QueryContext = { ...CONTEXT, told: new Float64Array(K) };
    const [seen, voted] = [prior().shallowCopy(), prior()];
    seen.anticipateVote(duelObservation(seen, flat, 0, 1), 1, 1);
    voted.observe(duelObservation(voted, flat, 0, 1), 0.5, 1, 1);
    expect(seen.covariances).toEqual(voted.covariances);
    expect(seen.sharedVariance).toEqual(voted.sharedVariance);
  });
});
