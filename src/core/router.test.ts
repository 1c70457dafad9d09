import { describe, expect, it } from "vitest";
import { createPolicy } from "./bandit/options.ts";
import { Pacer } from "./bandit/pacer.ts";
import { random as uniform } from "./bandit/policies/baselines.ts";
import { joust } from "./bandit/policies/joust.ts";
import { easyProblem } from "./bandit/policy.case.ts";
import type { Feedback, Policy, Round } from "./bandit/policy.ts";
import { Voters } from "./bandit/voters.ts";
import { errorText } from "./errors/error-text.fixture.ts";
import { Random } from "./random/random.ts";
import { type RoutedChoice, Router } from "./router.ts";

const { pool, at } = easyProblem(1);
const candidates = pool.models.map((_, k) => k);
const query = (t: number) => ({ x: at(t).x, candidates });

function spied(policy: Policy): { policy: Policy; rounds: Round[] } {
  const rounds: Round[] = [];
  const choose: Policy["choose"] = (round, random) => {
    rounds.push(round);
    return policy.choose(round, random);
  };
  return {
    rounds,
    policy: {
      choose,
      learn: policy.learn.bind(policy),
      snapshot: policy.snapshot.bind(policy),
      restore: policy.restore.bind(policy),
    },
  };
}

describe("Router", () => {
  it("shows the two answers of a duel in either order equally often", () => {
    const fixed = { ...uniform.create(pool, {}), choose: () => ({ pair: [0, 1] as const }) };
    const router = new Router(fixed);
    let first = 0;
    for (let t = 0; t < 2000; t++) {
      first += Number(router.route(query(t), Random.seeded(t)).pair[0] === 0);
    }
    expect(Math.abs(first - 1000)).toBeLessThan(100);
  });

  it("passes pending duels to the policy until their vote arrives, and drops the oldest first", () => {
    const { policy, rounds } = spied(uniform.create(pool, {}));
    const router = new Router(policy, { pending: 3 });
    const decisions = [0, 1, 2, 3].map((t) => router.route(query(t), Random.seeded(t)));
    expect(rounds.map((round) => round.pending?.length)).toEqual([0, 1, 2, 3]);
    router.route(query(4), Random.seeded(4));
    expect(rounds.at(-1)!.pending!.map(({ x }) => x)).toEqual([1, 2, 3].map((t) => at(t).x));
    router.vote(decisions[3]!, "a", Random.seeded(0));
    router.route(query(5), Random.seeded(5));
    expect(rounds.at(-1)!.pending).toHaveLength(3);
  });

  it("stops waiting for a vote after `pendingRounds` rounds", () => {
    const { policy, rounds } = spied(uniform.create(pool, {}));
    const router = new Router(policy, { pending: 100, pendingRounds: 10 });
    for (let t = 0; t < 50; t++) router.route(query(t), Random.seeded(t));
    expect(rounds.at(-1)!.pending).toHaveLength(10);
  });

  it("passes ratings and rankings to the policy, and no longer waits for a vote", () => {
    const heard: Feedback[] = [];
    const { policy, rounds } = spied(uniform.create(pool, {}));
    const router = new Router({ ...policy, learn: (f) => heard.push(f) }, { pending: 10 });
    const [one, two] = [0, 1].map((t) => router.route(query(t), Random.seeded(t)));
    router.rate(one!, one!.pair[0], -1, Random.seeded(0));
    router.rank(two!, [3, 1, 0], Random.seeded(0));
    expect(heard.map(({ kind }) => kind)).toEqual(["rating", "ranking"]);
    router.route(query(2), Random.seeded(2));
    expect(rounds.at(-1)!.pending).toEqual([]);
  });

  it("returns the probability of each pair that it serves", () => {
    const fixed = { ...uniform.create(pool, {}), choose: () => ({ pair: [0, 1] as const }) };
    const router = new Router(fixed, { explore: 0.5 });
    const seen = new Map<string, { count: number; propensity: number }>();
    const rounds = 4000;
    for (let t = 0; t < rounds; t++) {
      const { pair, propensity } = router.route(query(t), Random.seeded(t));
      const key = [...pair].sort().join();
      seen.set(key, { count: (seen.get(key)?.count ?? 0) + 1, propensity });
    }
    let total = 0;
    for (const { count, propensity } of seen.values()) {
      total += propensity;
      expect(Math.abs(count / rounds - propensity)).toBeLessThan(0.03);
    }
    expect(total).toBeCloseTo(1, 12);
  });

  it("keeps to a budget, in dollars or any other unit", () => {
    const values = Float64Array.of(0.9, 0.6, 0.3, 0.1);
    const choose: Policy["choose"] = ({ candidates, penalty }) => {
      const worth = (k: number) => values[k]! - (penalty?.[k] ?? 0);
      const best = candidates.reduce((a, b) => (worth(b) > worth(a) ? b : a));
      return { pair: [best, best] };
    };
    for (const unit of [1, 0.001]) {
      const costs = Float64Array.of(1, 0.4, 0.2, 0.1).map((cost) => cost * unit);
      const router = new Router(
        { ...uniform.create(pool, {}), choose },
        { budget: 0.3 * unit, costUnit: unit },
      );
      let spent = 0;
      for (let t = 0; t < 2000; t++) {
        const { pair } = router.route({ ...query(t), costs }, Random.seeded(t));
        spent += costs[pair[0]]! / unit / 2000;
      }
      expect(Math.abs(spent - 0.3)).toBeLessThan(0.03);
    }
  });

  it("does not charge the budget for a query with `isCharged: false`, only by `charge`", () => {
    const costs = Float64Array.of(1, 0.4, 0.2, 0.1);
    const router = new Router(uniform.create(pool, {}), { budget: 0.3 });
    const pacer = () => router.snapshot().serving!.pacer;
    router.route({ ...query(0), costs, isCharged: false }, Random.seeded(1));
    expect(pacer()).toEqual({ price: 0, squares: 0 });
    router.charge([0, 1], costs);
    const expected = new Pacer(0.3);
    expected.spend(1.4);
    expect(pacer()).toEqual(expected.snapshot());
  });

  it("penalises latency as well as cost", () => {
    const { policy, rounds } = spied(uniform.create(pool, {}));
    const latencies = Float64Array.of(1, 2, 3, 4);
    new Router(policy).route({ ...query(0), latencies, kappa: 0.1 }, Random.seeded(1));
    expect(rounds[0]!.penalty![3]).toBeCloseTo(0.4, 12);
  });

  it.each([[[0, 99]], [[-1, 0]], [[Number.NaN, 0]], [[0]], [[0, 1, 2]], [undefined]])(
    "refuses %j as a pair, and says what it should be",
    (pair) => {
      const choose = () => ({ pair: pair as unknown as readonly [number, number] });
      const router = new Router({ ...uniform.create(pool, {}), choose });
      expect(() => router.route(query(0), Random.seeded(1))).toThrow(
        errorText(/hint: choose returns/),
      );
    },
  );

  it("turns lambda and costs into a penalty", () => {
    const { policy, rounds } = spied(uniform.create(pool, {}));
    const costs = Float64Array.of(1, 2, 3, 4);
    new Router(policy).route({ ...query(0), costs, lambda: 0.5 }, Random.seeded(1));
    expect(rounds[0]!.penalty).toEqual(Float64Array.of(0.5, 1, 1.5, 2));
  });

  it("explores uniformly with probability `explore`", () => {
    const fixed = { ...uniform.create(pool, {}), choose: () => ({ pair: [0, 0] as const }) };
    const router = new Router(fixed, { explore: 0.2 });
    let others = 0;
    for (let t = 0; t < 4000; t++) {
      others += Number(router.route(query(t), Random.seeded(t)).pair.join() !== "0,0");
    }
    // 0.2 * 15/16 of the pairs are not (0, 0); standard error 0.006.
    expect(Math.abs(others / 4000 - 0.1875)).toBeLessThan(0.025);
  });

  it("ignores a voter who contradicts all others", () => {
    const pairs = uniform.create(pool, {});
    const values = Float64Array.of(0.9, 0.6, 0.3, 0.1);
    const choose: Policy["choose"] = (round, random) => ({
      ...pairs.choose(round, random),
      values,
    });
    const router = new Router({ ...pairs, choose }, { weighVoters: true });
    for (let t = 0; t < 400; t++) {
      const decision = router.route(query(t), Random.seeded(t));
      const [a, b] = decision.pair;
      const better = decision.values![a]! > decision.values![b]! ? "a" : "b";
      const worse = better === "a" ? "b" : "a";
      const liar = t % 4 === 0;
      router.vote(decision, liar ? worse : better, Random.seeded(t), liar ? "liar" : "honest");
    }
    expect(router.voters.weight("honest")).toBe(1);
    expect(router.voters.weight("liar")).toBeLessThan(0.3);
    expect(router.voters.weight("newcomer")).toBe(1);
  });
});

describe("answers: 1", () => {
  const values = Float64Array.of(0.2, 0.9, 0.8, 0.1);
  const fixed: Policy = { ...uniform.create(pool, {}), choose: () => ({ pair: [2, 0], values }) };
  const single = (t: number) => ({ ...query(t), answers: 1 as const });

  it("gives the model with the best value minus penalty, or the first of the pair if the policy has no values", () => {
    const { pair } = new Router(fixed).route(single(0), Random.seeded(1));
    expect(pair).toEqual([1, 1]);
    const costs = Float64Array.of(1, 3, 1, 1);
    const priced = new Router(fixed).route({ ...single(0), costs, lambda: 0.1 }, Random.seeded(1));
    expect([priced.pair, priced.lambda]).toEqual([[2, 2], 0.1]);
    const blind = { ...fixed, choose: () => ({ pair: [3, 0] as const }) };
    expect(new Router(blind).route(single(0), Random.seeded(1)).pair).toEqual([3, 3]);
  });

  it("makes joust choose the best model instead of a pair", () => {
    const policy = createPolicy(joust, pool);
    for (let t = 0; t < 20; t++) {
      const penalty = Float64Array.from(candidates, (k) => ((k + t) % 4) / 10);
      const round = { ...query(t), penalty };
      const { pair, values } = policy.choose({ ...round, answers: 1 }, Random.seeded(t));
      const worth = candidates.map((k) => values![k]! - penalty[k]!);
      expect(pair).toEqual([pair[0], pair[0]]);
      expect(worth[pair[0]]).toBe(Math.max(...worth));
      expect(values).toEqual(policy.choose(round, Random.seeded(t)).values);
    }
  });

  it("has the propensity of its own choice", () => {
    const router = new Router(fixed, { explore: 0.4 });
    const counts = [0, 0, 0, 0];
    for (let t = 0; t < 4000; t++) {
      const { pair, propensity } = router.route(single(t), Random.seeded(t));
      expect(pair[0]).toBe(pair[1]);
      expect(propensity).toBeCloseTo(pair[0] === 1 ? 0.7 : 0.1, 12);
      counts[pair[0]]!++;
    }
    for (const [k, count] of counts.entries()) {
      expect(Math.abs(count / 4000 - (k === 1 ? 0.7 : 0.1))).toBeLessThan(0.03);
    }
  });
});

describe("answers: 2", () => {
  const values = Float64Array.of(0.1, 0.9, 0.3, 0.2);
  const sure: Policy = {
    ...uniform.create(pool, {}),
    choose: ({ candidates }) => {
      const best = candidates.reduce((a, b) => (values[b]! > values[a]! ? b : a));
      return { pair: [best, best], values };
    },
  };

  it("gives two different models: the best and the best of the others", () => {
    const { pair } = new Router(sure).route({ ...query(0), answers: 2 }, Random.seeded(1));
    expect([...pair].sort()).toEqual([1, 2]);
    const alone = { ...query(0), candidates: [3], answers: 2 as const };
    expect(new Router(sure).route(alone, Random.seeded(1)).pair).toEqual([3, 3]);
  });

  it("has the propensity of its own choice", () => {
    const router = new Router(sure, { explore: 0.5 });
    const seen = new Map<string, { count: number; propensity: number }>();
    for (let t = 0; t < 4000; t++) {
      const { pair, propensity } = router.route({ ...query(t), answers: 2 }, Random.seeded(t));
      expect(pair[0]).not.toBe(pair[1]);
      const key = [...pair].sort().join();
      seen.set(key, { count: (seen.get(key)?.count ?? 0) + 1, propensity });
    }
    let total = 0;
    for (const { count, propensity } of seen.values()) {
      total += propensity;
      expect(Math.abs(count / 4000 - propensity)).toBeLessThan(0.03);
    }
    expect(total).toBeCloseTo(1, 12);
  });
});

it("a decision keeps the estimate that it was made with, even after later votes", () => {
  const router = new Router(createPolicy(joust, pool));
  const decision = router.route(query(0), Random.seeded(0));
  const before = decision.estimate!();
  const [a, b] = decision.pair;
  expect(a).not.toBe(b);
  for (let t = 0; t < 5; t++) router.vote(decision, "a", Random.seeded(t));
  const after = router.route(query(0), Random.seeded(0)).estimate!();
  expect(decision.estimate!().mean).toEqual(before.mean);
  expect(after.beats(a, b)).toBeGreaterThan(before.beats(a, b));
});

describe("a snapshot of the router", () => {
  const settings = { explore: 0.1, budget: 0.3, pending: 5, weighVoters: true };
  const costs = Float64Array.of(1, 0.4, 0.2, 0.1);
  const create = () => new Router(createPolicy(joust, pool), settings);
  const play = (router: Router, from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => {
      const t = from + i;
      const decision = router.route({ ...query(t), id: `d${t}`, costs }, Random.seeded(t));
      if (t % 3 === 0) router.vote(decision, t % 2 ? "a" : "b", Random.seeded(t), `v${t % 4}`, 0.5);
      return decision;
    });

  it("restores posterior, voters, budget and pending duels", () => {
    const router = create();
    play(router, 0, 60);
    const copy = create();
    copy.restore(structuredClone(router.snapshot()));
    expect(copy.snapshot()).toEqual(router.snapshot());
    expect(router.snapshot().serving!.pending.length).toBeGreaterThan(0);
    const told = ({ estimate, ...rest }: RoutedChoice) => ({ ...rest, mean: estimate?.().mean });
    expect(play(copy, 60, 120).map(told)).toEqual(play(router, 60, 120).map(told));
    expect(copy.snapshot()).toEqual(router.snapshot());
  });

  it("without a serving part, as from a learner, does not change budget and pending duels", () => {
    const router = create();
    play(router, 0, 60);
    const { serving } = router.snapshot();
    const { policy, voters } = create().snapshot();
    router.restore({ policy, voters });
    expect(router.snapshot()).toEqual({ policy, voters, serving });
  });

  it("keeps pending duels when the pool changes, except those of a removed model", () => {
    const router = create();
    const id = (t: number) => ({ ...query(t), id: `d${t}` });
    for (let t = 0; t < 5; t++) router.route(id(t), Random.seeded(t));
    const { policy, voters, serving } = router.snapshot();
    const moved = (k: number) => (k === 0 ? -1 : k - 1);
    const rest = {
      ...pool,
      models: pool.models.slice(1),
      ...(pool.told && { told: pool.told.slice(1) }),
      ...(pool.costs && { costs: pool.costs.slice(1) }),
      ...(pool.labels && { labels: pool.labels.slice(1) }),
    };
    const next = new Router(createPolicy(joust, rest), settings);
    next.restore({ policy, voters, serving });
    const left = serving!.pending
      .filter(({ pair }) => !pair.includes(0))
      .map((duel) => ({ ...duel, pair: duel.pair.map(moved) }));
    expect(next.snapshot().serving!.pending).toEqual(left);
  });

  it("a vote on a copy of the decision with the same id ends the wait for it", () => {
    const router = create();
    const [decision] = play(router, 1, 2);
    expect(router.snapshot().serving!.pending).toHaveLength(1);
    const { x, pair, values } = decision!;
    router.vote({ id: "d1", x, pair, values }, "a", Random.seeded(0));
    expect(router.snapshot().serving!.pending).toEqual([]);
  });
});

it("nothing is learned from a vote of weight 0", () => {
  const router = new Router(createPolicy(joust, pool), { weighVoters: true });
  const decision = { x: at(0).x, pair: [0, 1] as const, values: Float64Array.of(1, 0, 0) };
  router.vote(decision, "a", Random.seeded(1), "honest");
  const before = router.snapshot();
  router.vote(decision, "tie", Random.seeded(2), "other", 0);
  router.rate(decision, 0, -1, Random.seeded(3), "other", 0);
  router.rank(decision, [1, 0], Random.seeded(4), "other", 0);
  expect(router.snapshot()).toEqual(before);
});

it("the weights of a vote and its voter are multiplied, for ratings and rankings too", () => {
  const heard: Feedback[] = [];
  const listening = { ...uniform.create(pool, {}), learn: (f: Feedback) => void heard.push(f) };
  const router = new Router(listening, { weighVoters: true });
  const { policy } = router.snapshot();
  // Many voters agree nearly always, and one of them less often.
  router.restore({ policy, voters: { records: [["careless", [1000, 700]]], crowd: [5000, 4500] } });
  const judged = { x: at(0).x, pair: [0, 1] as const, values: undefined };
  for (const voter of ["careless", "judge"]) {
    const trust = router.voters.weight(voter);
    expect(trust).toBeGreaterThan(voter === "judge" ? 0.99 : 0);
    expect(trust).toBeLessThan(voter === "judge" ? 1.01 : 0.99);
    heard.length = 0;
    router.vote(judged, "a", Random.seeded(0), voter, 0.25);
    router.rate(judged, 1, 1, Random.seeded(0), voter, 0.25);
    router.rank(judged, [1, 0], Random.seeded(0), voter, 0.25);
    expect(heard.map(({ weight }) => weight)).toEqual([0.25, 0.25, 0.25].map((w) => w * trust));
  }
});

describe("Voters", () => {
  it("is restored from a snapshot", () => {
    const voters = new Voters();
    for (let i = 0; i < 100; i++) voters.record(`v${i % 3}`, i % 3 === 0 ? 0 : 1);
    const copy = new Voters(structuredClone(voters.snapshot()));
    for (const voter of ["v0", "v1", "v2", "v3"]) {
      expect(copy.weight(voter)).toBe(voters.weight(voter));
    }
    expect(copy.weight("v0")).toBeLessThan(copy.weight("v1"));
  });
});
