import { describe, expect, it } from "vitest";
import { Random } from "../../random/random.ts";
import { createPolicy } from "../options.ts";
import { pairwiseLoss } from "../pairwise-loss.ts";
import type { EvaluatedQuery, Options, PolicyKind, Pool } from "../policy.ts";
import { POLICIES } from "./index.ts";

const D = 8;
const ROUTERS = POLICIES.filter(({ name }) => name.startsWith("static-"));
/** Weak penalties, because the scores of these queries have no noise. */
const WEAK: Readonly<Record<string, Options>> = {
  "static-knn": { k: 5 },
  "static-ridge": { lambda: 0.1 },
  "static-mlp": { lambda: 0.01, steps: 200 },
  "static-matrix-factorization": { lambda: 0.01 },
  "static-bradley-terry": { lambda: 0.01 },
};

/** Model 0 is right if the first number of the embedding is positive, model 1 if it is not; model 2 never is. */
function queries(count: number, seed: number): EvaluatedQuery[] {
  const random = Random.seeded(seed);
  return Array.from({ length: count }, () => {
    const x = Float64Array.from({ length: D }, () => random.normal());
    x[0] = (x[0]! > 0 ? 2 : -2) + x[0]! / 4;
    return { x, scores: Float64Array.of(x[0]! > 0 ? 1 : 0, x[0]! > 0 ? 0 : 1, 0) };
  });
}

function pool(evaluated: readonly EvaluatedQuery[] | undefined): Pool {
  return {
    models: ["a", "b", "c"],
    categories: ["all"],
    centroids: [new Float64Array(D).fill(1)],
    told: [0.2, 0.9, 0.4].map((score) => Float64Array.of(score)),
    evaluated,
  };
}

function choices(kind: PolicyKind, given: Pool, stream: readonly EvaluatedQuery[]): number[] {
  const policy = createPolicy(kind, given, { ...kind.defaults, ...WEAK[kind.name] });
  return stream.map(({ x }) => {
    const { pair } = policy.choose({ x, candidates: [0, 1, 2] }, Random.seeded(1));
    expect(pair[0]).toBe(pair[1]);
    return pair[0];
  });
}

describe.each(ROUTERS.map((kind) => [kind.name, kind] as const))("%s", (_, kind) => {
  it("finds the best model of new queries from evaluated ones", () => {
    const stream = queries(100, 2);
    const chosen = choices(kind, pool(queries(200, 1)), stream);
    const right = chosen.filter((k, i) => stream[i]!.scores[k] === 1);
    expect(right.length).toBeGreaterThan(90);
  });

  it("uses the told scores if no query is evaluated", () => {
    expect(choices(kind, pool(undefined), queries(3, 3))).toEqual([1, 1, 1]);
  });
});

it("there are five static routers", () => {
  expect(ROUTERS).toHaveLength(5);
});

it("pairwiseLoss has the gradient of its value", () => {
  const ratings = Float64Array.of(0.3, -1.2, 0.8, 0.1);
  const scores = Float64Array.of(1, 0, 1, 0.5);
  const { gradient } = pairwiseLoss(ratings, scores);
  ratings.forEach((_, k) => {
    const moved = (by: number) =>
      pairwiseLoss(
        ratings.map((value, i) => value + (i === k ? by : 0)),
        scores,
      ).loss;
    expect(gradient[k]).toBeCloseTo((moved(1e-5) - moved(-1e-5)) / 2e-5, 7);
  });
});
