import { expect, it } from "vitest";
import type { Feedback, Options, PolicyKind } from "../../core/bandit/policy.ts";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { Random } from "../../core/random/random.ts";
import { summarize } from "./regret.ts";
import { curveRounds, runPolicy } from "./run.ts";
import { SETTINGS, type Settings } from "./settings.ts";
import { TABLED, world } from "./world.fixture.ts";

type Pair = readonly [number, number];

/**
 * Shows the same pair in every round and records what it learns. With `every` = 2 it shows the pair in
 * every other round and [1, 1] in the rounds between.
 */
function stubborn(pair: Pair, every = 1) {
  const learnt: Feedback[] = [];
  let t = 0;
  const kind: PolicyKind = {
    name: "stubborn",
    summary: "always the same pair",
    defaults: { n: 1 },
    create: (pool) => ({
      choose: () => ({ pair: t++ % every === 0 ? pair : [1, 1] }),
      learn: (feedback) => void learnt.push(feedback),
      snapshot: () => ({ models: pool.models, state: undefined }),
      restore() {},
    }),
  };
  return { kind, learnt };
}

function play(pair: Pair, settings: Partial<Settings>, every = 1) {
  const { kind, learnt } = stubborn(pair, every);
  const all = { ...SETTINGS, ...settings };
  const environment = world(TABLED, all);
  return {
    learnt,
    environment,
    run: runPolicy(environment, { kind, options: {} }, all, Random.seeded(2)),
  };
}

it("regret, agreement and cost of a duel count both answers", () => {
  const { run, learnt, environment } = play([0, 1], { rounds: 40 });
  const kinds = Array.from({ length: 40 }, (_, t) => environment.at(t).query.category);
  const y = kinds.reduce((sum, kind) => sum + kind, 0);
  const x = 40 - y;
  expect(run.curve[0]).toBeCloseTo(kinds[0] === 0 ? 0.9 - 0.7 : 1 - 0.3, 12);
  expect(run.curve.at(-1)).toBeCloseTo(x * 0.2 + y * 0.7, 10);
  expect(run.agreement).toBeCloseTo(x / 2 / 40, 12);
  expect(run.costPerQuery).toBeCloseTo((x * 5 + y * 6) / 40, 12);
  expect(run.scorePerQuery).toBeCloseTo((x * 0.7 + y * 0.3) / 40, 12);
  expect(run.regretPerf).toBe(run.curve.at(-1));
  expect(learnt.length).toBe(40);
});

it("with lambda, the regret of scores is reported beside that of utilities", () => {
  const { run: free } = play([0, 1], { rounds: 40 });
  const { run } = play([0, 1], { rounds: 40, lambda: 0.1 });
  expect(run.regretPerf).toBe(free.regretPerf);
  expect(run.scorePerQuery).toBe(free.scorePerQuery);
  expect(run.curve.at(-1)).not.toBeCloseTo(run.regretPerf, 3);
});

it("a single answer costs once and brings no vote", () => {
  const { run, learnt } = play([1, 1], { rounds: 20 });
  expect(learnt.length).toBe(0);
  expect(run.costPerQuery).toBeLessThanOrEqual(2);
  expect(run.agreement).toBe(0);
  expect(run.updateMicros).toEqual({ p50: 0, p99: 0 });
});

it("delayed votes arrive in order, and the last ones never", () => {
  const { learnt, environment } = play([0, 2], { rounds: 30, delay: 7 });
  expect(learnt.map(({ x }) => x)).toEqual(
    Array.from({ length: 23 }, (_, t) => environment.at(t).x),
  );
});

it("policies that show the same pair in a round get the same vote, whatever they showed before", () => {
  const votes = (every: number) => play([0, 2], { rounds: 60, voteScale: 1 }, every).learnt;
  const half = votes(2);
  expect(half).toEqual(votes(1).filter((_, t) => t % 2 === 0));
  const outcomes = half.map((vote) => (vote.kind === "duel" ? vote.outcome : ""));
  expect(new Set(outcomes)).toEqual(new Set(["a", "b"]));
});

it("options that are not given have the policy's defaults", () => {
  const seen: Options[] = [];
  const kind: PolicyKind = {
    ...stubborn([0, 1]).kind,
    defaults: { n: 1, m: 1 },
    create: (pool, options) => {
      seen.push(options);
      return stubborn([0, 1]).kind.create(pool, options);
    },
  };
  const settings = { ...SETTINGS, rounds: 1 };
  runPolicy(world(TABLED, settings), { kind, options: { m: 2 } }, settings, Random.seeded(1));
  expect(seen).toEqual([{ n: 1, m: 2 }]);
});

it("refuses settings of the router that are out of range", () => {
  const { kind } = stubborn([0, 1]);
  const settings = { ...SETTINGS, rounds: 1 };
  const contender = { kind, options: {}, router: { explore: 3 } };
  expect(() => runPolicy(world(TABLED, settings), contender, settings, Random.seeded(1))).toThrow(
    errorText(/^explore of the router is 3; hint: give explore from 0 to 1$/),
  );
});

it("curves record a hundred rounds, evenly spaced, with the last", () => {
  expect(curveRounds(3)).toEqual([1, 2, 3]);
  expect(curveRounds(1000).slice(0, 2)).toEqual([10, 20]);
  expect(curveRounds(123_457).length).toBe(100);
  expect(curveRounds(123_457).at(-1)).toBe(123_457);
});

it("one run has no interval, several have one", () => {
  const { run } = play([0, 2], { rounds: 5 });
  const one = summarize([run], 5);
  expect([one.regret.lo, one.regret.hi, one.curve.lo[0]]).toEqual([null, null, null]);
  const two = summarize([run, { ...run, curve: run.curve.map((value) => value + 1) }], 5);
  expect(two.regret.lo!).toBeLessThan(two.regret.mean);
  expect(two.curve.hi[0]!).toBeGreaterThan(two.curve.mean[0]!);
});
