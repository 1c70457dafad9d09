import { describe, expect, it } from "vitest";
import { norm } from "../../linalg/linalg.ts";
import { Random } from "../../random/random.ts";
import { sigmoid } from "../btl.ts";
import type { FeatureOptions } from "../features.ts";
import { easyProblem } from "../policy.case.ts";
import type { Policy, PolicyKind, Pool } from "../policy.ts";
import { fgtsCdb } from "./fgts-cdb.ts";
import { thompson } from "./thompson.ts";

const EVERY = [0, 1, 2, 3];

describe.each<[string, Partial<FeatureOptions>]>([
  ["hadamard", {}],
  ["addition", { features: "addition" }],
  ["category", { features: "category" }],
  ["perf weighting, centred", { weighting: "perf", centred: true }],
])("fgts-cdb on %s features", (_, options) => {
  it("has at most half of the regret of random in rounds 200 to 300", () => {
    const problem = easyProblem(1);
    const { regrets } = play(create(fgtsCdb, problem.pool, options), problem, 300);
    const mine = regrets.slice(200).reduce((sum, regret) => sum + regret, 0);
    expect(mine).toBeLessThan(problem.randomRegret(200, 300) / 2);
  });
});

describe("fgts-cdb", () => {
  const problem = easyProblem(2);

  it("uses mu = 1 / (10 e sqrt(T)) by default", () => {
    const pairs = (options: Partial<typeof fgtsCdb.defaults>) =>
      play(create(fgtsCdb, problem.pool, { cap: 100, ...options }), problem, 150).pairs;
    // At T = 1e-4, mu is 3.7, which is large enough to change the choices.
    expect(pairs({ horizon: 1e-4 })).toEqual(pairs({ mu: 1 / (10 * Math.E * 0.01) }));
    expect(pairs({ horizon: 1e-4 })).not.toEqual(pairs({}));
  });

  it("is Thompson sampling if mu is 0", () => {
    const calm = create(fgtsCdb, problem.pool, { mu: 0 });
    const other = create(thompson, problem.pool, {});
    expect(play(calm, problem, 60).pairs).toEqual(play(other, problem, 60).pairs);
  });

  it("makes the choices of Thompson sampling at the default mu, which hardly moves the chains", () => {
    const feelsGood = create(fgtsCdb, problem.pool, {});
    const other = create(thompson, problem.pool, {});
    expect(play(feelsGood, problem, 300).pairs).toEqual(play(other, problem, 300).pairs);
    const [mine, theirs] = [stateOf(feelsGood).theta[0]!, stateOf(other).theta[0]!];
    const moved = norm(mine.map((value, i) => value - theirs[i]!));
    expect(moved).toBeGreaterThan(0);
    expect(moved).toBeLessThan(0.005 * norm(theirs));
  });

  it("only stores rounds when it learns, and moves its chains when it chooses", () => {
    const policy = create(fgtsCdb, problem.pool, {});
    play(policy, problem, 20);
    const before = stateOf(policy);
    policy.learn(
      { kind: "duel", x: problem.at(0).x, pair: [0, 1], outcome: "a" },
      Random.seeded(1),
    );
    const after = stateOf(policy);
    expect(after.theta).toEqual(before.theta);
    expect(after.votes.length).toBe(before.votes.length + 4);
    policy.choose({ x: problem.at(0).x, candidates: EVERY }, Random.seeded(1));
    expect(stateOf(policy).theta).not.toEqual(after.theta);
    expect(stateOf(policy).votes).toEqual(after.votes);
  });

  it("stores a ranking as its comparisons, and nothing of a duel of a model with itself", () => {
    const policy = create(fgtsCdb, problem.pool, {});
    const { x } = problem.at(0);
    const random = Random.seeded(1);
    policy.learn({ kind: "ranking", x, order: [2, 0, 1], weight: 0.5 }, random);
    policy.learn({ kind: "duel", x, pair: [3, 3], outcome: "a" }, random);
    policy.learn({ kind: "rating", x, model: 1, rating: 1 }, random);
    policy.learn({ kind: "duel", x, pair: [1, 0], outcome: "both_bad" }, random);
    expect(rows(stateOf(policy).votes)).toEqual([
      [2, 0, 1, 0.5],
      [2, 1, 1, 0.5],
      [0, 1, 1, 0.5],
      [1, 0, 0.5, 1],
    ]);
  });

  it("stores every round in the order of the chains if it is exact", () => {
    const policy = create(fgtsCdb, problem.pool, { exact: true });
    const chosen: (readonly [number, number])[] = [];
    for (let t = 0; t < 40; t++) {
      const { x } = problem.at(t);
      const { pair } = policy.choose({ x, candidates: EVERY }, Random.seeded(t));
      chosen.push(pair);
      // Every vote is for the model of chain 1, whose answer is shown second.
      const shown = [pair[1], pair[0]] as const;
      if (pair[0] !== pair[1]) {
        policy.learn({ kind: "duel", x, pair: shown, outcome: "b" }, Random.seeded(t));
      }
    }
    const same = ([a, b]: readonly [number, number]) => a === b;
    expect(chosen.some(same)).toBe(true);
    expect(rows(stateOf(policy).votes)).toEqual(
      chosen.map((pair) => [...pair, ...(same(pair) ? [0.5, 0] : [1, 1])]),
    );
  });

  it("has no cap if it is exact", () => {
    const last = (options: Partial<typeof fgtsCdb.defaults>) => {
      const policy = create(fgtsCdb, problem.pool, { mu: 1, ...options });
      return play(policy, problem, 60).pairs;
    };
    expect(last({ exact: true, cap: 0 })).toEqual(last({ exact: true }));
    expect(last({ exact: true })).not.toEqual(last({}));
  });

  it.each(["hadamard", "category"])(
    "keeps the rounds and coefficients of the remaining models when the pool changes, on %s features",
    (features) => {
      const policy = create(fgtsCdb, problem.pool, { features });
      play(policy, problem, 60);
      const swap = <T>(list: readonly T[]): T[] => [list[3]!, list[2]!, list[0]!, list[1]!];
      const without = ([dan, cyd, ada]: string[]) => [dan!, cyd!, ada!, "eve"];
      const pool = {
        ...problem.pool,
        models: without(swap(problem.pool.models)),
        told: swap(problem.pool.told!),
      };
      const next = create(fgtsCdb, pool, { features });
      next.restore(structuredClone(policy.snapshot()));
      const now = [2, -1, 1, 0]; // ada, bob, cyd, dan
      const expected = rows(stateOf(policy).votes)
        .map(([a, b, win, weight]) => [now[a!]!, now[b!]!, win, weight])
        .filter(([a, b]) => a! >= 0 && b! >= 0);
      expect(expected.length).toBeGreaterThan(0);
      expect(rows(stateOf(next).votes)).toEqual(expected);
      for (const j of [0, 1]) {
        const old = stateOf(policy).theta[j]!;
        const theta = stateOf(next).theta[j]!;
        if (features === "hadamard") expect(theta).toEqual(old);
        else {
          expect(theta.slice(0, 3)).toEqual(old.slice(9, 12)); // dan's three categories
          expect(theta.slice(9, 12)).toEqual(new Float64Array(3)); // eve starts at the prior mean
          expect(theta[12]).toBe(old[12]);
        }
      }
    },
  );

  it("plays each of two models with equal features", () => {
    const told = problem.pool.told!.map((row, k) => (k === 3 ? problem.pool.told![0]! : row));
    const costs = problem.pool.costs!.map(() => new Float64Array(3));
    const policy = create(fgtsCdb, { ...problem.pool, told, costs }, {});
    const played = new Set(play(policy, problem, 100).pairs.flat());
    expect(played).toContain(0);
    expect(played).toContain(3);
  });

  it("does not play a model with a very large penalty", () => {
    const policy = create(fgtsCdb, problem.pool, {});
    const penalty = Float64Array.of(0, 1e3, 0, 1e3);
    for (let t = 0; t < 50; t++) {
      const { pair } = policy.choose(
        { x: problem.at(t).x, candidates: EVERY, penalty },
        Random.seeded(t),
      );
      for (const k of pair) expect([0, 2]).toContain(k);
    }
  });
});

interface State {
  theta: Float64Array[];
  x: Float64Array;
  votes: Float64Array;
}

function stateOf(policy: Policy): State {
  return policy.snapshot().state as State;
}

function rows(votes: Float64Array): number[][] {
  return Array.from({ length: votes.length / 4 }, (_, i) => [...votes.slice(4 * i, 4 * i + 4)]);
}

function create<O extends FeatureOptions>(
  kind: PolicyKind<O>,
  pool: Pool,
  options: Partial<O>,
): Policy {
  return kind.create(pool, { ...kind.defaults, ...options });
}

function play(policy: Policy, problem: ReturnType<typeof easyProblem>, T: number) {
  const pairs: (readonly [number, number])[] = [];
  const regrets: number[] = [];
  for (let t = 0; t < T; t++) {
    const random = Random.seeded(1).split(t);
    const { x, m } = problem.at(t);
    const { pair } = policy.choose({ x, candidates: EVERY }, random.split("choose"));
    const utilities = problem.utilities(m);
    const [a, b] = [utilities[pair[0]]!, utilities[pair[1]]!];
    pairs.push(pair);
    regrets.push(Math.max(...utilities) - (a + b) / 2);
    const outcome = random.split("vote").uniform() < sigmoid(10 * (a - b)) ? "a" : "b";
    if (pair[0] !== pair[1]) policy.learn({ kind: "duel", x, pair, outcome }, random);
  }
  return { pairs, regrets };
}
