import { describe, expect, it } from "vitest";
import { dotAt } from "../../linalg/linalg.ts";
import { Random } from "../../random/random.ts";
import { createFeatures, FEATURE_DEFAULTS } from "../features.ts";
import { createPolicy } from "../options.ts";
import type { Hindsight, Pool } from "../policy.ts";
import { bestTheta } from "./best-theta.ts";

const K = 4;
const DIMENSION = 6;

/** Random queries and models whose utilities are linear in the features, at `theta`. */
function linearWorld(seed: number, noise: number): { pool: Pool; hindsight: Hindsight } {
  const random = Random.seeded(seed);
  const vector = () => Float64Array.from({ length: DIMENSION }, () => random.normal());
  const pool: Pool = {
    models: ["ada", "bob", "cyd", "dan"],
    categories: ["one"],
    centroids: [vector()],
    told: [0.1, 0.2, 0.3, 0.4].map((score) => Float64Array.of(score)),
    costs: undefined,
    labels: undefined,
    fitted: Array.from({ length: K }, vector),
  };
  const features = createFeatures(pool, OPTIONS);
  const theta = vector();
  const stream = Array.from({ length: 60 }, (_, i) => {
    const x = vector();
    const rows = features.rows(x);
    const utilities = Float64Array.from(
      { length: K },
      (_, k) => dotAt(rows, k * DIMENSION, theta, 0, DIMENSION) + noise * random.normal(),
    );
    return { x, utilities, count: 1 + (i % 3) };
  });
  const utilities = (x: Float64Array) => stream.find((query) => query.x === x)!.utilities;
  return { pool, hindsight: { utilities, bestFixed: 0, stream } };
}

const OPTIONS = { ...FEATURE_DEFAULTS, weighting: "fitted" };

function regretOf(objective: string, { pool, hindsight }: ReturnType<typeof linearWorld>): number {
  const policy = createPolicy(bestTheta, pool, { weighting: "fitted", objective }, hindsight);
  const candidates = pool.models.map((_, k) => k);
  return hindsight.stream.reduce((sum, { x, utilities, count }) => {
    const { pair } = policy.choose({ x, candidates }, Random.seeded(1));
    expect(pair[0]).toBe(pair[1]);
    return sum + count * (Math.max(...utilities) - utilities[pair[0]]!);
  }, 0);
}

describe("best-theta", () => {
  it.each([1, 2, 3])(
    "has no regret where utilities are linear in the features, seed %i",
    (seed) => {
      expect(regretOf("votes", linearWorld(seed, 0))).toBeLessThan(1e-3);
      expect(regretOf("regret", linearWorld(seed, 0))).toBeLessThan(1e-3);
    },
  );

  it.each([1, 2, 3])(
    "has less regret with the objective regret than with votes if utilities are not linear, seed %i",
    (seed) => {
      const world = linearWorld(seed, 2);
      const [byRegret, byVotes] = [regretOf("regret", world), regretOf("votes", world)];
      expect(byRegret).toBeGreaterThan(0);
      expect(byRegret).toBeLessThan(byVotes);
    },
  );

  it("finds no better theta among 3,000 random ones", () => {
    const world = linearWorld(4, 1);
    const { pool, hindsight } = world;
    const features = createFeatures(pool, OPTIONS);
    const random = Random.seeded(9);
    let best = Infinity;
    for (let n = 0; n < 3_000; n++) {
      const theta = Float64Array.from({ length: DIMENSION }, () => random.normal());
      let regret = 0;
      for (const { x, utilities, count } of hindsight.stream) {
        const rows = features.rows(x);
        const scores = utilities.map((_, k) => dotAt(rows, k * DIMENSION, theta, 0, DIMENSION));
        regret +=
          count * (Math.max(...utilities) - utilities[scores.indexOf(Math.max(...scores))]!);
      }
      best = Math.min(best, regret);
    }
    expect(regretOf("regret", world)).toBeLessThanOrEqual(best);
  });
});
