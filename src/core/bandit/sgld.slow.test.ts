import { beforeAll, describe, expect, it } from "vitest";
import { cholesky, inverse } from "../linalg/linalg.ts";
import { Random } from "../random/random.ts";
import { sigmoid } from "./btl.ts";
import type { Features } from "./features.ts";
import { GrowingRows, StoredPast } from "./past-features.ts";
import { Rounds } from "./rounds.ts";
import { Chain, stepSize, type Target } from "./sgld.ts";

/**
 * Compares a chain with random-walk Metropolis, which has no discretisation error, on an
 * independent implementation of the density: forty votes in three dimensions, with all
 * rounds in each gradient. Both are Monte Carlo, so differences are measured in their
 * standard errors, which are computed from the means of 40 consecutive parts of a run.
 */
describe("the target that a chain samples", () => {
  const { rounds, target } = logisticProblem();
  let exact: ReturnType<typeof moments>;
  beforeAll(() => {
    exact = moments(metropolis(rounds, target, 800_000, Random.seeded(1)));
  }, 120_000);
  const chain = (step: number, n: number) =>
    moments(langevin(rounds, target, step, n, Random.seeded(2)), exact.mean);

  it("has the mean and the covariance of Metropolis if steps are small", () => {
    const sampled = chain(0.05, 1_000_000);
    for (const [i, value] of sampled.mean.entries()) {
      const error = Math.hypot(sampled.seMean[i]!, exact.seMean[i]!);
      expect(Math.abs(value - exact.mean[i]!)).toBeLessThan(4 * error);
      // The standard error is small compared with the measured values, so the test could fail.
      expect(error).toBeLessThan(0.03 * Math.sqrt(exact.covariance[i * D + i]!));
    }
    for (const [i, value] of sampled.covariance.entries()) {
      const error = Math.hypot(sampled.seCovariance[i]!, exact.seCovariance[i]!);
      expect(Math.abs(value - exact.covariance[i]!)).toBeLessThan(4 * error);
      expect(error).toBeLessThan(0.03 * exact.covariance[0]!);
    }
  });

  it("is too wide by an amount that decreases with the step", () => {
    const precision = inverse(exact.covariance, D);
    const excess = (step: number, n: number) => {
      const { covariance } = chain(step, n);
      return covariance.reduce((sum, value, i) => sum + value * precision[i]!, 0) / D - 1;
    };
    // For a quadratic U with Hessian H, the covariance of the chain in units of H^-1 would be
    // (I - eps/2 A)^-1, A = sd H sd. This U is nearly quadratic: its curvature only decreases.
    const predicted = (step: number) => {
      const eps = stepSize(target, rounds, step);
      const B = precision.map((h, i) => {
        const [r, c] = [(i / D) | 0, i % D];
        return (r === c ? 1 : 0) - (eps / 2) * target.sd[r]! * h * target.sd[c]!;
      });
      const wide = inverse(B, D);
      return (wide[0]! + wide[4]! + wide[8]!) / D - 1;
    };
    const large = excess(1.6, 200_000);
    const middle = excess(0.4, 400_000);
    expect(Math.abs(large - predicted(1.6))).toBeLessThan(0.25 * predicted(1.6));
    expect(Math.abs(middle - predicted(0.4))).toBeLessThan(0.5 * predicted(0.4));
    expect(middle).toBeLessThan(large / 3);
  });
});

const D = 3;

/** The features of model 0 are the query itself, those of model 1 are 0, so v = x. */
function logisticProblem(): { rounds: Rounds; target: Target } {
  const features: Features = {
    models: 2,
    dimension: D,
    rows: (x) => Float64Array.of(...x, 0, 0, 0),
    priorMean: Float64Array.of(0, 0.5, 0),
    priorSd: Float64Array.of(1, 1, 2),
  };
  const target: Target = { mean: features.priorMean, sd: features.priorSd, eta: 1, mu: 0, cap: 1 };
  const rounds = new Rounds(features, new StoredPast(2, D), new GrowingRows(D), features.priorSd);
  const random = Random.seeded(3);
  const truth = [1, -1, 0.5];
  for (let t = 0; t < 40; t++) {
    const x = Float64Array.from({ length: D }, () => random.normal());
    const p = sigmoid(truth.reduce((sum, value, i) => sum + value * x[i]!, 0));
    rounds.add(x, { a: 0, b: 1, win: random.uniform() < p ? 1 : 0, weight: 1 });
  }
  return { rounds, target };
}

function langevin(
  rounds: Rounds,
  target: Target,
  step: number,
  n: number,
  random: Random,
): Float64Array {
  const chain = new Chain(target, 1, { steps: 1, batch: rounds.length, step });
  const out = new Float64Array(n * D);
  for (let t = -n / 20; t < n; t++) {
    chain.advance(rounds, random);
    if (t >= 0) out.set(chain.theta, t * D);
  }
  return out;
}

function metropolis(rounds: Rounds, target: Target, n: number, random: Random): Float64Array {
  const votes = Array.from({ length: rounds.length }, (_, i) => {
    const y = 2 * rounds.vote(i).win - 1;
    return [...rounds.x.row(i)].map((value) => y * value);
  });
  const minusLog = (theta: readonly number[]) => {
    let U = 0;
    for (let i = 0; i < D; i++) U += ((theta[i]! - target.mean[i]!) / target.sd[i]!) ** 2 / 2;
    for (const v of votes) {
      U += Math.log(1 + Math.exp(-(v[0]! * theta[0]! + v[1]! * theta[1]! + v[2]! * theta[2]!)));
    }
    return U;
  };
  let theta = [...target.mean];
  let U = minusLog(theta);
  const out = new Float64Array(n * D);
  for (let t = -n / 20; t < n; t++) {
    const next = theta.map((value) => value + 0.6 * random.normal());
    const nextU = minusLog(next);
    if (random.uniform() < Math.exp(U - nextU)) {
      theta = next;
      U = nextU;
    }
    if (t >= 0) out.set(theta, t * D);
  }
  return out;
}

/** Returns the mean of the draws and their covariance about `centre`, with standard errors. */
function moments(draws: Float64Array, centre?: Float64Array) {
  const first = stretches(draws, (theta) => theta, D);
  const middle = centre ?? first.mean;
  const second = stretches(
    draws,
    (theta) =>
      Float64Array.from(
        { length: D * D },
        (_, i) => (theta[i % D]! - middle[i % D]!) * (theta[(i / D) | 0]! - middle[(i / D) | 0]!),
      ),
    D * D,
  );
  // Throws if a run is so short that its covariance is singular.
  cholesky(second.mean, D);
  return {
    mean: first.mean,
    seMean: first.se,
    covariance: second.mean,
    seCovariance: second.se,
  };
}

/** Returns the mean of a function of the draws, and its standard error from 40 parts of the run. */
function stretches(draws: Float64Array, of: (theta: Float64Array) => Float64Array, size: number) {
  const count = 40;
  const length = draws.length / D / count;
  const means = Array.from({ length: count }, (_, s) => {
    const sum = new Float64Array(size);
    for (let t = s * length; t < (s + 1) * length; t++) {
      const value = of(draws.subarray(t * D, (t + 1) * D));
      for (let i = 0; i < size; i++) sum[i]! += value[i]! / length;
    }
    return sum;
  });
  const at = (f: (column: number[]) => number) =>
    Float64Array.from({ length: size }, (_, i) => f(means.map((row) => row[i]!)));
  const average = (column: number[]) => column.reduce((sum, v) => sum + v, 0) / count;
  const se = (column: number[]) => {
    const m = average(column);
    return Math.sqrt(column.reduce((sum, v) => sum + (v - m) ** 2, 0) / (count - 1) / count);
  };
  return { mean: at(average), se: at(se) };
}
