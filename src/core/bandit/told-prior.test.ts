import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { toldPrior } from "./told-prior.ts";

const [K, M] = [40, 8];

/** Scores of models with abilities, effects and errors of these standard deviations. */
function world(ability: number, effect: number, error: number, seed = 1) {
  const random = Random.seeded(seed);
  const truth = Array.from({ length: K }, () => {
    const own = 0.5 + ability * random.normal();
    return Float64Array.from({ length: M }, () => own + effect * random.normal());
  });
  const told = truth.map((row) => row.map((utility) => utility + error * random.normal()));
  const errors = told.map((row) => row.map(() => error));
  return { truth, told, errors };
}

const relative = (rows: readonly Float64Array[]) =>
  rows.map((row) => row.map((value, m) => value - rows.reduce((sum, r) => sum + r[m]!, 0) / K));

/** Mean square of the difference of two tables, relative to the means of their categories. */
function distance(a: readonly Float64Array[], b: readonly Float64Array[]): number {
  const [x, y] = [relative(a), relative(b)];
  return (
    x.reduce((sum, row, k) => sum + row.reduce((s, v, m) => s + (v - y[k]![m]!) ** 2, 0), 0) /
    (K * M)
  );
}

describe("toldPrior", () => {
  it("keeps precise scores", () => {
    const { told, errors } = world(0.1, 0.1, 0.001);
    expect(distance(toldPrior(told, errors).means, told)).toBeLessThan(1e-5);
  });

  it("is closer to the truth than imprecise scores are", () => {
    const { truth, told, errors } = world(0.1, 0.05, 0.15);
    expect(distance(toldPrior(told, errors).means, truth)).toBeLessThan(
      0.4 * distance(told, truth),
    );
  });

  it("draws scores to the ability of the model only if the models differ in ability", () => {
    const spread = (ability: number, effect: number) => {
      const { told, errors } = world(ability, effect, 0.1);
      const row = toldPrior(told, errors).means[0]!;
      return Math.max(...row) - Math.min(...row);
    };
    expect(spread(0.1, 0.01)).toBeLessThan(0.2 * spread(0.01, 0.1));
  });

  it("has errors as large as its covariance says", () => {
    let [sum, count] = [0, 0];
    for (let seed = 1; seed <= 5; seed++) {
      const { truth, told, errors } = world(0.1, 0.1, 0.1, seed);
      const { means, covariances } = toldPrior(told, errors);
      const [x, y] = [relative(truth), relative(means)];
      for (let k = 0; k < K; k++) {
        for (let m = 0; m < M; m++) {
          sum += (x[k]![m]! - y[k]![m]!) ** 2 / covariances[k]![m * M + m]!;
          count++;
        }
      }
    }
    expect(Math.abs(sum / count - 1)).toBeLessThan(0.15);
  });

  it("takes an unknown score from the model's other scores, with a larger variance", () => {
    const { truth, told, errors } = world(0.15, 0.02, 0.05);
    const best = truth
      .map((row) => row[1]!)
      .reduce((top, u, k, all) => (u > all[top]! ? k : top), 0);
    told[best]![0] = Number.NaN;
    errors[best]![0] = Number.NaN;
    const { means, covariances } = toldPrior(told, errors);
    expect(Math.abs(means[best]![0]! - means[best]![1]!)).toBeLessThan(0.05);
    expect(covariances[best]![0]).toBeGreaterThan(covariances[best]![M + 1]!);
    expect(covariances.flatMap((block) => [...block]).every(Number.isFinite)).toBe(true);
  });

  it("takes a score without an error for one with a standard error of 0.1", () => {
    const { told, errors } = world(0.1, 0.1, 0.05);
    const stated = errors.map((row) => row.slice());
    errors[3]![2] = Number.NaN;
    stated[3]![2] = 0.1;
    expect(toldPrior(told, errors)).toEqual(toldPrior(told, stated));
  });
});
