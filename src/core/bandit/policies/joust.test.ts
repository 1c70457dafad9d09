import { describe, expect, it } from "vitest";
import { errorText } from "../../errors/error-text.fixture.ts";
import { Random } from "../../random/random.ts";
import { sigmoid } from "../btl.ts";
import { categoryMembership } from "../features.ts";
import { easyProblem } from "../policy.case.ts";
import type { Feedback, Outcome, Policy, Pool } from "../policy.ts";
import { joust } from "./joust.ts";
import { reportOf } from "./joust-report.ts";

const { pool, at } = easyProblem(1);
const all = [0, 1, 2, 3];
const untold: Pool = { ...pool, told: undefined };

function create(options: Partial<typeof joust.defaults> = {}, of: Pool = pool): Policy {
  return joust.create(of, { ...joust.defaults, ...options });
}

/** Model 0 beats 1 beats 2 beats 3 on every query. */
function teach(policy: Policy, rounds: number, outcome?: Outcome): void {
  for (let t = 0; t < rounds; t++) {
    const random = Random.seeded(t);
    const a = random.integer(4);
    const b = (a + 1 + random.integer(3)) % 4;
    const wins = random.uniform() < sigmoid(1.5 * (b - a));
    const duel: Feedback = {
      kind: "duel",
      x: at(t).x,
      pair: [a, b],
      outcome: outcome ?? (wins ? "a" : "b"),
    };
    policy.learn(duel, random);
  }
}

const valuesOf = (policy: Policy, t = 0) =>
  policy.choose({ x: at(t).x, candidates: all }, Random.seeded(t)).values!;

describe("joust", () => {
  it("starts from the told scores and follows the votes if they contradict these", () => {
    const told = [0.1, 0.3, 0.6, 0.9].map((score) => new Float64Array(3).fill(score));
    const policy = create({}, { ...pool, told });
    expect(valuesOf(policy).indexOf(Math.max(...valuesOf(policy)))).toBe(3);
    teach(policy, 600);
    const values = [...valuesOf(policy)];
    expect(values.toSorted((a, b) => b - a)).toEqual(values);
  });

  it("discovers by its own duels that the told scores are permuted", () => {
    for (let seed = 1; seed <= 5; seed++) {
      const problem = easyProblem(seed);
      const told = problem.truth.map((_, k) => problem.truth[(k + 1) % 4]!);
      const policy = create({}, { ...problem.pool, told });
      let late = 0;
      for (let t = 0; t < 800; t++) {
        const random = Random.seeded(seed).split(t);
        const { x, m } = problem.at(t);
        const utilities = problem.utilities(m);
        const { pair } = policy.choose({ x, candidates: all }, random.split("choose"));
        const [ua, ub] = [utilities[pair[0]]!, utilities[pair[1]]!];
        if (t >= 600) late += Math.max(...utilities) - (ua + ub) / 2;
        if (pair[0] === pair[1]) continue;
        const outcome = random.uniform() < sigmoid(10 * (ua - ub)) ? "a" : "b";
        policy.learn({ kind: "duel", x, pair, outcome }, random);
      }
      expect(late).toBeLessThan(problem.randomRegret(600, 800) / 2);
    }
  });

  it("trusts precise scores more than imprecise ones", () => {
    const told = [0.4, 0.5, 0.6, 0.7].map((score) => new Float64Array(3).fill(score));
    const flipped = (error: number) => {
      const toldErrors = told.map((row) => row.map(() => error));
      const policy = create({}, { ...pool, told, toldErrors });
      const { estimate } = policy.choose({ x: at(0).x, candidates: all }, Random.seeded(1));
      const sd = estimate!().sd[0]!;
      for (let t = 0; t < 3; t++) {
        policy.learn({ kind: "duel", x: at(t).x, pair: [0, 3], outcome: "a" }, Random.seeded(t));
      }
      const values = valuesOf(policy);
      return { sd, lead: values[0]! - values[3]! };
    };
    const [precise, imprecise] = [flipped(0.01), flipped(0.3)];
    expect(precise.sd).toBeLessThan(imprecise.sd);
    expect(precise.lead).toBeLessThan(imprecise.lead);
  });

  it("restores a snapshot whose hypotheses had other prior probabilities", () => {
    const policy = create();
    teach(policy, 100);
    const { models, state } = structuredClone(policy.snapshot()) as {
      models: string[];
      state: { beliefs: { hypothesis: { logPrior: number }; evidence: number }[] };
    };
    for (const belief of state.beliefs) {
      belief.evidence += 0.7;
      belief.hypothesis.logPrior += 0.7;
    }
    const other = create();
    other.restore({ models, state });
    for (const [k, value] of valuesOf(other).entries()) {
      expect(value).toBeCloseTo(valuesOf(policy)[k]!, 12);
    }
  });

  it("starts with equal models if no scores are told", () => {
    expect([...valuesOf(create({}, untold))]).toEqual([0, 0, 0, 0]);
  });

  it("keeps models equal if all their duels are ties", () => {
    const policy = create({}, untold);
    teach(policy, 300, "tie");
    for (const value of valuesOf(policy)) expect(Math.abs(value)).toBeLessThan(0.02);
  });

  it("learns from both_bad that other models are better", () => {
    const policy = create({}, untold);
    for (let t = 0; t < 50; t++) {
      const x = at(0).x;
      policy.learn({ kind: "duel", x, pair: [0, 1], outcome: "both_bad" }, Random.seeded(t));
    }
    const values = valuesOf(policy);
    expect(Math.max(values[0]!, values[1]!)).toBeLessThan(Math.min(values[2]!, values[3]!));
  });

  it("changes to single answers of the best model once it is known", () => {
    const policy = create({ minGain: 0.02 }, untold);
    teach(policy, 2000);
    const { pair } = policy.choose({ x: at(0).x, candidates: all }, Random.seeded(1));
    expect(pair).toEqual([0, 0]);
  });

  it("follows the penalties of the request", () => {
    const policy = create({}, untold);
    teach(policy, 2000);
    const penalty = Float64Array.of(5, 0, 0, 0);
    const { pair } = policy.choose({ x: at(0).x, candidates: all, penalty }, Random.seeded(1));
    expect(pair).not.toContain(0);
  });

  it("chooses other pairs than those of pending duels, without changing its state", () => {
    const policy = create({}, untold);
    const x = at(0).x;
    const before = policy.snapshot();
    const pending = Array.from({ length: 40 }, () => ({ x, pair: [0, 1] as const }));
    const met = new Set<number>();
    for (let seed = 0; seed < 40; seed++) {
      const { pair } = policy.choose({ x, candidates: all, pending }, Random.seeded(seed));
      for (const k of pair) met.add(k);
    }
    // Forty votes on the first two models are pending, so the other pair is the most informative.
    expect([...met].sort()).toEqual([2, 3]);
    expect(policy.snapshot()).toEqual(before);
  });

  it("lets a new model duel the best one in the share `onboarding` of rounds, until it is known", () => {
    const old = create({}, untold);
    teach(old, 500);
    const models = [...pool.models, "eve"];
    const policy = create({ onboarding: 0.3 }, { ...untold, models });
    policy.restore(structuredClone(old.snapshot()));
    const candidates = [...all, 4];
    const x = at(0).x;
    const round = (seed: number) => policy.choose({ x, candidates }, Random.seeded(seed)).pair;
    const pairs = Array.from({ length: 500 }, (_, seed) => round(seed));
    const withEve = pairs.filter((pair) => pair.includes(4));
    expect(Math.abs(withEve.length / 500 - 0.3)).toBeLessThan(0.08);
    expect(withEve.every((pair) => pair[0] === 0)).toBe(true);
    for (let t = 0; t < 40; t++) {
      policy.learn({ kind: "duel", x, pair: [0, 4], outcome: "a" }, Random.seeded(t));
    }
    const later = Array.from({ length: 200 }, (_, seed) => round(seed));
    expect(later.filter((pair) => pair.includes(4)).length).toBeLessThan(20);
  });

  it("rejects a snapshot of other categories with a hint", () => {
    const other = create({}, { ...pool, categories: ["law", "code", "history"] });
    expect(() => create().restore(other.snapshot())).toThrow(
      errorText(/law, code, history.*hint: learn again/),
    );
  });

  it("starts a hypothesis that is not in the snapshot from its prior", () => {
    const policy = create({}, untold);
    teach(policy, 200);
    const told = create();
    told.restore(policy.snapshot());
    expect([...valuesOf(told)]).toEqual([...valuesOf(create())]);
  });

  it("replaces all of its state when a snapshot is restored", () => {
    const fresh = create({}, untold).snapshot();
    const policy = create({}, untold);
    teach(policy, 200);
    policy.restore(fresh);
    expect(policy.snapshot()).toEqual(fresh);
  });

  it("counts rankings of a new model as duels", () => {
    const policy = create({}, { ...untold, models: [...pool.models, "eve"] });
    policy.restore(create({}, untold).snapshot());
    for (let t = 0; t < 40; t++) {
      policy.learn({ kind: "ranking", x: at(t).x, order: [4, 0, 1] }, Random.seeded(t));
    }
    const candidates = [...all, 4];
    const { pair } = policy.choose({ x: at(0).x, candidates }, Random.seeded(3));
    expect(pair[0]).toBe(4);
  });

  /** Model 0 wins every duel. Returns the evidence of the hypotheses, by one of their fields. */
  function evidenceBy(member: "scale" | "cellSd", of: Pool): Map<number, number> {
    const sharp = create({}, of);
    for (let t = 0; t < 400; t++) {
      const [a, b] = t % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
      const outcome = a === 0 ? "a" : "b";
      sharp.learn({ kind: "duel", x: at(t).x, pair: [a, b], outcome }, Random.seeded(t));
    }
    const { beliefs } = sharp.snapshot().state as {
      beliefs: { hypothesis: { scale: number; cellSd: number }; evidence: number }[];
    };
    const most = new Map<number, number>();
    for (const { hypothesis, evidence } of beliefs) {
      const key = hypothesis[member];
      most.set(key, Math.max(evidence, most.get(key) ?? -Infinity));
    }
    return most;
  }

  it("learns the vote scale from how decisive votes are", () => {
    const evidence = evidenceBy("scale", pool);
    expect(evidence.get(10)).toBeGreaterThan(evidence.get(1)! + 5);
  });

  it("learns how far apart models are if no scores are told", () => {
    const evidence = evidenceBy("cellSd", untold);
    const spreads = [...evidence.keys()].sort((a, b) => a - b);
    expect(evidence.get(spreads.at(-1)!)).toBeGreaterThan(evidence.get(spreads[0]!)! + 5);
  });

  it.each([0, 0.5, 1])(
    "without told scores, values differ by the difference in the shares of right answers; %d of equal answers tie",
    (tied) => {
      const policy = create({}, untold);
      const right = [0.8, 0.5, 0.65, 0.65];
      for (let t = 0; t < 6000; t++) {
        const random = Random.seeded(t);
        const a = random.integer(4);
        const b = (a + 1 + random.integer(3)) % 4;
        const [one, two] = [a, b].map((k) => random.uniform() < right[k]!);
        const either = random.uniform() < 0.5 ? "a" : "b";
        const equal = random.uniform() < tied ? "tie" : either;
        const outcome = one === two ? equal : one ? "a" : "b";
        policy.learn({ kind: "duel", x: at(0).x, pair: [a, b], outcome }, random);
      }
      const values = valuesOf(policy);
      expect(Math.abs(values[0]! - values[1]! - 0.3)).toBeLessThan(0.05);
    },
  );

  it("a ranking of unknown models favours no hypothesis", () => {
    const policy = create({}, untold);
    policy.learn({ kind: "ranking", x: at(0).x, order: [2, 0, 3, 1] }, Random.seeded(1));
    const { beliefs } = policy.snapshot().state as {
      beliefs: { hypothesis: { logPrior: number }; evidence: number }[];
    };
    expect(beliefs).toHaveLength(3);
    for (const { hypothesis, evidence } of beliefs) {
      expect(evidence - hypothesis.logPrior).toBeCloseTo(Math.log(1 / 24), 10);
    }
  });

  it("ties do not pull models together", () => {
    const policy = create({ ties: 1 }, untold);
    // Davidson's model with nu = 2: a tie whenever two votes with half the gap disagree. Ties that
    // count as half wins would halve the gap. The share of ties is close to the share between
    // equal models.
    const gap = 1.5;
    for (let t = 0; t < 6000; t++) {
      const random = Random.seeded(t);
      const [one, two] = [0, 1].map(() => random.uniform() < sigmoid(gap / 2));
      const pair = t % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
      const winner = one !== two ? undefined : one ? 0 : 1;
      const outcome = winner === undefined ? "tie" : winner === pair[0] ? "a" : "b";
      policy.learn({ kind: "duel", x: at(0).x, pair, outcome }, random);
    }
    const { scale, utilities } = reportOf(policy)!.samplePosterior(Random.seeded(1));
    const [u0, u1] = utilities(categoryMembership(pool.centroids)(at(0).x));
    expect(Math.abs(scale * (u0! - u1!) - gap)).toBeLessThan(0.3);
  });

  it("forgets with drift: old votes weigh less", () => {
    const steady = create({}, untold);
    const drifting = create({ drift: 0.98 }, untold);
    for (const policy of [steady, drifting]) {
      teach(policy, 400);
      for (let t = 0; t < 200; t++) {
        policy.learn({ kind: "duel", x: at(0).x, pair: [0, 3], outcome: "b" }, Random.seeded(t));
      }
    }
    const lead = (policy: Policy) => valuesOf(policy)[3]! - valuesOf(policy)[0]!;
    expect(lead(drifting)).toBeGreaterThan(lead(steady));
  });
});
