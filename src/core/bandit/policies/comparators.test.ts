import { describe, expect, it } from "vitest";
import { Random } from "../../random/random.ts";
import type { PolicyKind, Pool } from "../policy.ts";
import { clusterBradleyTerry } from "./cluster-bradley-terry.ts";
import { doubleTs } from "./double-ts.ts";
import { eagle } from "./eagle.ts";
import { knnBradleyTerry } from "./knn-bradley-terry.ts";
import { matrixFactorization } from "./matrix-factorization.ts";
import { metaLlm } from "./metallm.ts";
import { mixLlm } from "./mixllm.ts";
import { swBradleyTerry } from "./sw-bradley-terry.ts";
import { at, candidates, pool, randomDuels, taught, valuesAt } from "./votes.case.ts";

/** Properties that the routers of other papers share, in addition to the conformance suite. */
const KINDS = [
  doubleTs,
  eagle,
  matrixFactorization,
  swBradleyTerry,
  knnBradleyTerry,
  clusterBradleyTerry,
  mixLlm,
  metaLlm,
] as unknown as PolicyKind<{ prior: number }>[];

describe.each(KINDS)("$name", (kind) => {
  const fresh = (of: Pool, prior = kind.defaults.prior) => taught(kind, [], { prior }, of);

  it("follows the told scores before the first vote, unless `prior` is 0", () => {
    pool.centroids.forEach((x, m) => {
      const told = pool.told!.map((row) => row[m]!);
      const values = valuesAt(fresh(pool), x);
      expect(values.indexOf(Math.max(...values))).toBe(told.indexOf(Math.max(...told)));
      expect(new Set(valuesAt(fresh(pool, 0), x)).size).toBe(1);
    });
  });

  it("works without told scores, or with some of them unknown", () => {
    const { told, ...silent } = pool;
    expect(new Set(valuesAt(fresh(silent), at(0).x)).size).toBe(1);
    const holes = told!.map((row, k) => row.map((score, m) => (m === k ? Number.NaN : score)));
    for (const value of valuesAt(fresh({ ...pool, told: holes }), at(0).x)) {
      expect(value).not.toBeNaN();
    }
  });

  it("avoids a model with a very large penalty", () => {
    const policy = taught(kind, randomDuels(100, 1));
    for (let t = 0; t < 20; t++) {
      const { x } = at(t);
      const favourite = policy.choose({ x, candidates }, Random.seeded(t)).pair[0];
      const penalty = Float64Array.from(candidates, (k) => (k === favourite ? 1000 : 0));
      const { pair } = policy.choose({ x, candidates, penalty }, Random.seeded(t));
      expect(pair).not.toContain(favourite);
    }
  });

  it("does not depend on the order of the pool", () => {
    const order = [2, 0, 3, 1];
    const shuffled: Pool = { ...pool, models: order.map((k) => pool.models[k]!) };
    const policy = taught(kind, randomDuels(100, 2));
    const next = taught(kind, [], {}, shuffled);
    next.restore(structuredClone(policy.snapshot()));
    for (let t = 500; t < 510; t++) {
      const before = valuesAt(policy, at(t).x);
      const after = valuesAt(next, at(t).x);
      order.forEach((k, i) => {
        expect(after[i]).toBeCloseTo(before[k]!, 9);
      });
    }
  });

  it("replaces all of its state when a snapshot is restored", () => {
    const policy = taught(kind, randomDuels(100, 3));
    const before = taught(kind, randomDuels(20, 4));
    policy.restore(structuredClone(before.snapshot()));
    expect(valuesAt(policy, at(0).x)).toEqual(valuesAt(before, at(0).x));
  });

  it("learns from a ranking as from its comparisons", () => {
    const { x } = at(3);
    const ranked = taught(kind, []);
    const duelled = taught(kind, []);
    ranked.learn({ kind: "ranking", x, order: [2, 0, 1] }, Random.seeded(1));
    const random = Random.seeded(1);
    for (const pair of [
      [2, 0],
      [2, 1],
      [0, 1],
    ] as const) {
      duelled.learn({ kind: "duel", x, pair, outcome: "a" }, random);
    }
    const values = valuesAt(ranked, x);
    expect(values).toEqual(valuesAt(duelled, x));
    expect(values.indexOf(Math.max(...values))).toBe(2);
  });
});
