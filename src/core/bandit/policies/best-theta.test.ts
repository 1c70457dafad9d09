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

  it.each([1, 2, 3])(
    "reaches the optimum although raw metadata is much larger than the rest, seed %i",
    (seed) => {
      const plain = linearWorld(seed, 0);
      const pool = {
        ...plain.pool,
        costs: [3000, 700, 10_000, 100].map((cost) => Float64Array.of(cost)),
      };
      const options = { weighting: "fitted", metadata: "raw" };
      const { rows, dimension } = createFeatures(pool, { ...FEATURE_DEFAULTS, ...options });
      // Each feature explains as much of the utilities as any other.
      const size = new Float64Array(dimension);
      for (const { x } of plain.hindsight.stream) {
        const phi = rows(x);
        for (let i = 0; i < dimension; i++) {
          const own = Array.from({ length: K }, (_, k) => phi[k * dimension + i]!);
          size[i] = Math.max(size[i]!, Math.max(...own) - Math.min(...own));
        }
      }
      const random = Random.seeded(seed).split("theta");
      const theta = size.map((value) => random.normal() / value);
      const stream = plain.hindsight.stream.map((query) => {
        const phi = rows(query.x);
        const utility = (_: unknown, k: number) => dotAt(phi, k * dimension, theta, 0, dimension);
        return { ...query, utilities: Float64Array.from(pool.models, utility) };
      });
      const choices = (of: Hindsight["stream"]) => {
        const hindsight = { ...plain.hindsight, stream: of };
        const own = { ...options, objective: "votes", scale: 1 };
        const policy = createPolicy(bestTheta, pool, own, hindsight);
        const candidates = pool.models.map((_, k) => k);
        return stream.map(({ x }) => policy.choose({ x, candidates }, random).pair[0]);
      };
      const best = stream.map(({ utilities }) => utilities.indexOf(Math.max(...utilities)));
      expect(choices(stream)).toEqual(best);
      expect(choices(stream.toReversed())).toEqual(best);
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
