import { describe, expect, it } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { Random } from "../random/random.ts";
import type { Pool } from "./policy.ts";
import { challenger, RANKING_DEFAULTS, type Ranker, rankingPolicy } from "./ranking.ts";

const VALUES = [1, 0.5, 0, -1];
const WIDTHS = [9, 0.1, 0.9, 3];
const ALL = [0, 1, 2, 3];
const pick = (explore: string, rate: number, seed: number, candidates = ALL) =>
  challenger(
    0,
    candidates,
    (k) => VALUES[k]!,
    (k) => WIDTHS[k]!,
    { explore, rate },
    Random.seeded(seed),
  );

describe("challenger", () => {
  it("ucb: is the favourite at a low rate, and a more uncertain model at a higher rate", () => {
    expect(pick("ucb", 0.3, 1)).toBe(0);
    expect(pick("ucb", 1.1, 1, [0, 1, 2])).toBe(0);
    expect(pick("ucb", 1.2, 1, [0, 1, 2])).toBe(2);
    expect(pick("ucb", 1, 1)).toBe(3);
  });

  it("softmax: is drawn with probabilities proportional to exp(value / rate)", () => {
    const counts = [0, 0, 0, 0];
    for (let seed = 0; seed < 4000; seed++) counts[pick("softmax", 0.5, seed)]!++;
    const total = VALUES.reduce((sum, value) => sum + Math.exp(value / 0.5), 0);
    counts.forEach((count, k) => {
      const p = Math.exp(VALUES[k]! / 0.5) / total;
      expect(Math.abs(count / 4000 - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / 4000));
    });
  });

  it("epsilon: is the favourite, except with probability `rate`", () => {
    const others = ALL.map(() => 0);
    for (let seed = 0; seed < 4000; seed++) others[pick("epsilon", 0.3, seed)]!++;
    expect(Math.abs(others[0]! / 4000 - 0.7)).toBeLessThan(0.03);
    for (const k of [1, 2, 3]) expect(Math.abs(others[k]! / 4000 - 0.1)).toBeLessThan(0.02);
  });

  it("is the favourite if it is the only candidate", () => {
    for (const explore of ["ucb", "softmax", "epsilon"]) {
      expect(pick(explore, 100, 1, [0])).toBe(0);
    }
  });

  it("lists the known values if `explore` has another", () => {
    expect(() => pick("hope", 1, 1)).toThrow(errorText(/ucb, softmax, epsilon/));
  });
});

describe("rankingPolicy", () => {
  const pool: Pool = {
    models: ["ada", "bob"],
    categories: ["law"],
    centroids: [Float64Array.of(1, 0)],
    told: [Float64Array.of(0.6), Float64Array.of(0.2)],
  };
  const x = Float64Array.of(1, 0);
  const offsets: number[] = [];
  const still: Ranker = {
    rate: () => ({ mean: Float64Array.of(0, 1), width: () => 0 }),
    learn: (_x, _comparison, offset) => offsets.push(offset),
    snapshot: () => undefined,
    restore() {},
  };
  const options = { ...RANKING_DEFAULTS, scale: 5, prior: 1 };
  const policy = rankingPolicy(pool, options, still);
  const round = { x, candidates: [0, 1] };

  it("adds told scores to the ratings, and returns values in utility", () => {
    const { pair, values } = policy.choose(round, Random.seeded(1));
    expect(pair).toEqual([0, 0]);
    expect(values![0]).toBeCloseTo(0.6, 12);
    expect(values![1]).toBeCloseTo(0.2 + 1 / 5, 12);
  });

  it("subtracts penalties in utility", () => {
    const choose = (penalty: number) =>
      policy.choose({ ...round, penalty: Float64Array.of(penalty, 0) }, Random.seeded(1)).pair[0];
    expect(choose(0.19)).toBe(0);
    expect(choose(0.21)).toBe(1);
  });

  it("passes the offset of the told scores to the ranker", () => {
    policy.learn({ kind: "duel", x, pair: [1, 0], outcome: "a" }, Random.seeded(1));
    expect(offsets).toHaveLength(1);
    expect(offsets[0]).toBeCloseTo(5 * (0.2 - 0.6), 12);
  });
});
