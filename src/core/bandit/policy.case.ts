import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { sigmoid } from "./btl.ts";
import { createPolicy } from "./options.ts";
import type { Feedback, Outcome, Policy, PolicyKind, Pool } from "./policy.ts";

/** Reasons for which a policy is exempt from one of the two tests of learning. */
export interface Exemptions {
  readonly learns?: string | undefined;
  readonly explores?: string | undefined;
}

/** The conformance suite of all policies. policies.test.ts runs it for the built-in ones. */
export function conforms(kind: PolicyKind, exempt: Exemptions = {}): void {
  describe(kind.name, () => {
    it("makes the same choices from the same seed", () => {
      const a = play(kind, easyProblem(1), 60, 1);
      const b = play(kind, easyProblem(1), 60, 1);
      expect(a.pairs).toEqual(b.pairs);
    });

    it("continues after snapshot and restore with the same choices", () => {
      const problem = easyProblem(2);
      const { policy } = play(kind, problem, 60, 2);
      const before = structuredClone(policy.snapshot());
      const copy = create(kind, problem);
      copy.restore(structuredClone(before));
      expect(copy.snapshot()).toEqual(before);
      const rest = (of: Policy) => continuePlay(of, problem, 60, 120, 2).pairs;
      expect(rest(copy)).toEqual(rest(policy));
      expect(copy.snapshot()).toEqual(policy.snapshot());
    });

    it("takes snapshots that later votes do not change", () => {
      const problem = easyProblem(3);
      const { policy } = play(kind, problem, 30, 3);
      const snapshot = policy.snapshot();
      const before = structuredClone(snapshot);
      continuePlay(policy, problem, 30, 60, 3);
      expect(snapshot).toEqual(before);
    });

    it("continues with a model added and one removed", () => {
      const problem = easyProblem(4);
      const { policy } = play(kind, problem, 60, 4);
      const changed = changePool(problem);
      const next = create(kind, changed);
      next.restore(structuredClone(policy.snapshot()));
      const { pairs } = continuePlay(next, changed, 0, 60, 4);
      for (const k of pairs.flat()) expect(k).toBeLessThan(changed.pool.models.length);
    });

    it("chooses only candidates, also if there is only one", () => {
      const problem = easyProblem(5);
      const { policy } = play(kind, problem, 30, 5);
      for (const candidates of [[2], [1, 3]]) {
        for (let t = 0; t < 20; t++) {
          const { x } = problem.at(t);
          const { pair } = policy.choose({ x, candidates }, Random.seeded(t));
          expect(candidates).toContain(pair[0]);
          expect(candidates).toContain(pair[1]);
        }
      }
    });

    it.each(["tie", "both_bad"] as const)("stays finite if every vote is a %s", (outcome) => {
      const { policy } = play(kind, easyProblem(6), 200, 6, () => outcome);
      expectFinite(policy.snapshot());
    });

    it("never contains NaN: surprising votes, a zero query, weights of 0 and 1e6", () => {
      const problem = easyProblem(7);
      const policy = create(kind, problem);
      const zero = { ...problem, at: (t: number) => ({ ...problem.at(t), x: problem.zero }) };
      continuePlay(policy, problem, 0, 100, 7, () => "b");
      for (const weight of [0, 1e6]) {
        for (const x of [problem.at(0).x, problem.zero]) {
          policy.learn({ kind: "duel", x, pair: [0, 1], outcome: "a", weight }, Random.seeded(1));
        }
      }
      continuePlay(policy, { ...zero, oracleKnows: problem.oracleKnows }, 0, 20, 7, () => "a");
      expectFinite(policy.snapshot());
    });

    it("accepts ratings, rankings and a duel of a model with itself", () => {
      const problem = easyProblem(8);
      const policy = create(kind, problem);
      const x = problem.at(0).x;
      const feedback: Feedback[] = [
        { kind: "rating", x, model: 1, rating: 1 },
        { kind: "rating", x, model: 2, rating: -0.5 },
        { kind: "ranking", x, order: [2, 0, 1] },
        { kind: "duel", x, pair: [1, 1], outcome: "a" },
      ];
      for (const each of feedback) policy.learn(each, Random.seeded(1));
      expectFinite(policy.snapshot());
      continuePlay(policy, problem, 0, 20, 8);
    });

    // 16,000 rounds take policies that revisit all past votes seconds on a busy machine.
    const half = "has at most half of the regret of random in the last quarter, on 20 of 20 seeds";
    const learning = (title: string, given: number, reason: string | undefined) => {
      if (reason !== undefined) return; // exempt
      it(title, () => expect(seedsNotLearned(kind, given)).toEqual([]), 60_000);
    };
    learning(
      `without told scores, after ${GIVEN} votes on random duels, ${half}`,
      GIVEN,
      exempt.learns,
    );
    learning(`without told scores, by its own duels, ${half}`, 0, exempt.learns ?? exempt.explores);
  });
}

/**
 * Returns the seeds on which a policy without told scores has more than half of the regret
 * of `random` in the last quarter. Without told scores it can only learn from votes. The
 * first `given` rounds are duels of random pairs, as an arena collects them: with these a
 * policy only has to learn, without them it also has to choose informative pairs.
 */
export function seedsNotLearned(kind: PolicyKind, given: number): string[] {
  const from = (ROUNDS * 3) / 4;
  return Array.from({ length: 20 }, (_, i) => 100 + i).flatMap((seed) => {
    const problem = untold(easyProblem(seed));
    const policy = create(kind, problem);
    for (let t = 0; t < given; t++) {
      const random = Random.seeded(seed).split("given").split(t);
      const a = random.integer(4);
      const b = (a + 1 + random.integer(3)) % 4;
      vote(policy, problem, t, [a, b], random);
    }
    const mine = sum(
      continuePlay(policy, problem, given, ROUNDS, seed).regrets.slice(from - given),
    );
    const random = problem.randomRegret(from, ROUNDS);
    return mine > random / 2 ? [`seed ${seed}: ${mine.toFixed(1)} of ${random.toFixed(1)}`] : [];
  });
}

const ROUNDS = 800;
const SCALE = 10;
export const GIVEN = 200;

/**
 * Four models and three well-separated categories in 12 dimensions. Each of the first
 * three models is best in one category by 0.5; the told scores are right up to noise of 0.1.
 */
export function easyProblem(seed: number) {
  const random = Random.seeded(seed).split("problem");
  const K = 4;
  const M = 3;
  const d = 12;
  const truth = Array.from({ length: K }, (_, k) =>
    Float64Array.from({ length: M }, (_, m) => (k === m ? 0.9 : 0.4 - 0.1 * ((k + m) % 2))),
  );
  const direction = Array.from({ length: M }, (_, m) =>
    Float64Array.from({ length: d }, (_, i) => (i % M === m ? 0.5 : 0.05)),
  );
  const queries = Array.from({ length: ROUNDS }, () => {
    const m = random.integer(M);
    return { m, x: direction[m]!.map((value) => value + 0.05 * random.normal()) };
  });
  const pool: Pool = {
    models: ["ada", "bob", "cyd", "dan"],
    categories: ["law", "code", "maths"],
    centroids: direction,
    told: truth.map((row) => row.map((score) => score + 0.1 * random.normal())),
    costs: truth.map((row, k) => row.map(() => 0.1 * (k + 1))),
  };
  return problem(pool, truth, queries, d);
}

type Problem = ReturnType<typeof problem>;

function problem(
  pool: Pool,
  truth: readonly Float64Array[],
  queries: readonly { m: number; x: Float64Array }[],
  d: number,
) {
  const utilities = (m: number) => Float64Array.from(truth, (row) => row[m]!);
  const categoryOf = new Map(queries.map(({ x, m }) => [x, m]));
  return {
    pool,
    truth,
    queries,
    zero: new Float64Array(d),
    at: (t: number) => queries[t % queries.length]!,
    utilities,
    oracleKnows: (x: Float64Array) => utilities(categoryOf.get(x) ?? 0),
    randomRegret: (from: number, to: number) =>
      sum(
        queries.slice(from, to).map(({ m }) => {
          const row = utilities(m);
          return Math.max(...row) - sum([...row]) / row.length;
        }),
      ),
  };
}

/** The same problem without told scores, in which a policy that ignores votes is no better than `random`. */
function untold({ pool, truth, queries, zero }: Problem): Problem {
  return problem({ ...pool, told: undefined }, truth, queries, zero.length);
}

/** The same problem without model `bob` and with model `eve`, which is weak in all categories. */
function changePool({ pool, truth, queries, zero }: Problem): Problem {
  const without = <T>(rows: readonly T[], added: T) => [...rows.filter((_, k) => k !== 1), added];
  const poor = new Float64Array(3).fill(0.1);
  return problem(
    {
      ...pool,
      models: without(pool.models, "eve"),
      told: without(pool.told!, poor),
      costs: without(pool.costs!, poor),
    },
    without(truth, poor),
    queries,
    zero.length,
  );
}

function create(kind: PolicyKind, { pool, oracleKnows, queries }: Problem): Policy {
  const stream = queries.map(({ x }) => ({ x, utilities: oracleKnows(x), count: 1 }));
  return createPolicy(kind, pool, {}, { utilities: oracleKnows, bestFixed: 0, stream });
}

function play(
  kind: PolicyKind,
  problem: Problem,
  rounds: number,
  seed: number,
  outcome?: () => Outcome,
) {
  const policy = create(kind, problem);
  return { policy, ...continuePlay(policy, problem, 0, rounds, seed, outcome) };
}

function continuePlay(
  policy: Policy,
  problem: Problem,
  from: number,
  to: number,
  seed: number,
  outcome?: () => Outcome,
): { pairs: [number, number][]; regrets: number[] } {
  const pairs: [number, number][] = [];
  const regrets: number[] = [];
  const candidates = problem.pool.models.map((_, k) => k);
  for (let t = from; t < to; t++) {
    const random = Random.seeded(seed).split(t);
    const { x, m } = problem.at(t);
    const { pair } = policy.choose({ x, candidates }, random.split("choose"));
    const [a, b] = pair;
    const utilities = problem.utilities(m);
    pairs.push([a, b]);
    regrets.push(Math.max(...utilities) - (utilities[a]! + utilities[b]!) / 2);
    if (a !== b || outcome) vote(policy, problem, t, pair, random, outcome?.());
  }
  return { pairs, regrets };
}

/** Lets the policy learn a vote on a duel in round t: `given`, or a vote drawn by Bradley-Terry-Luce. */
function vote(
  policy: Policy,
  problem: Problem,
  t: number,
  pair: readonly [number, number],
  random: Random,
  given?: Outcome,
): void {
  const { x, m } = problem.at(t);
  const utilities = problem.utilities(m);
  const p = sigmoid(SCALE * (utilities[pair[0]]! - utilities[pair[1]]!));
  const outcome = given ?? (random.split("vote").uniform() < p ? "a" : "b");
  policy.learn({ kind: "duel", x, pair, outcome }, random.split("learn"));
}

export function expectFinite(value: unknown): void {
  if (typeof value === "number") expect(value).not.toBeNaN();
  else if (value instanceof Float64Array) expect(value.every(Number.isFinite)).toBe(true);
  else if (value instanceof Map) [...value].forEach(expectFinite);
  else if (value instanceof Set || Array.isArray(value)) value.forEach(expectFinite);
  else if (value && typeof value === "object") Object.values(value).forEach(expectFinite);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
