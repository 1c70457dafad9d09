import { describe, expect, it } from "vitest";
import { Random } from "../random/random.ts";
import { sigmoid } from "./btl.ts";
import { createPolicy } from "./options.ts";
import { joust } from "./policies/joust.ts";
import { reportOf } from "./policies/joust-report.ts";
import type { Origin, Policy, Pool } from "./policy.ts";

const K = 4;
const POOL: Pool = {
  models: ["a", "b", "c", "d"],
  categories: ["x", "y"],
  centroids: [Float64Array.of(1, 0), Float64Array.of(0, 1)],
};
/** Quality in logits of people's votes, the same in both categories. */
const TRUTH = [0.9, 0.3, -0.3, -0.9];
/** Whether a model is of the judge's family. */
const OWN = [0, 0, 1, 1];
const JUDGE = "judge:j";

/** A judge whose votes have the logit scale * (truth + taste) plus its biases. */
interface World {
  readonly scale: number;
  readonly first: number;
  readonly length: number;
  readonly own: number;
  readonly taste?: readonly number[];
}

function votes(policy: Policy, random: Random, count: number, judge?: World): void {
  for (let i = 0; i < count; i++) {
    const x = Float64Array.of(...random.shuffle([1, 0]));
    const a = random.integer(K);
    const b = (a + 1 + random.integer(K - 1)) % K;
    const origin: Origin | undefined = judge && {
      kind: JUDGE,
      length: 0.7 * random.normal(),
      own: OWN[a]! - OWN[b]!,
    };
    const seen = (k: number) => TRUTH[k]! + (judge?.taste?.[k] ?? 0);
    const bias = judge
      ? judge.first + judge.length * origin!.length! + judge.own * origin!.own!
      : 0;
    const p = sigmoid((judge?.scale ?? 1) * (seen(a) - seen(b)) + bias);
    const outcome = random.uniform() < p ? "a" : "b";
    policy.learn({ kind: "duel", x, pair: [a, b], outcome, origin }, random);
  }
}

function bestOf(policy: Policy): string {
  const { mean } = reportOf(policy)!.overall();
  return POOL.models[mean.indexOf(Math.max(...mean))]!;
}

describe("kinds of voters", () => {
  it("the biases of a judge are inside their 95% intervals as often as stated", () => {
    const judge: World = { scale: 0.6, first: 0.4, length: 0.8, own: 0.7 };
    let inside = 0;
    let total = 0;
    for (let seed = 0; seed < 24; seed++) {
      const random = Random.seeded(seed);
      const policy = createPolicy(joust, POOL);
      votes(policy, random.split("people"), 600);
      votes(policy, random.split("judge"), 1200, judge);
      const [estimate, ...others] = reportOf(policy)!.voterKinds();
      expect(others).toEqual([]);
      expect(estimate).toMatchObject({ kind: JUDGE, votes: 1200 });
      for (const name of ["scale", "first", "length", "own"] as const) {
        const { mean, sd } = estimate![name]!;
        total++;
        if (Math.abs(mean - judge[name]) < 1.96 * sd) inside++;
        // An interval that says nothing would be right too often.
        expect(sd).toBeLessThan({ scale: 0.45, first: 0.1, length: 0.15, own: 0.45 }[name]);
      }
    }
    expect(inside / total).toBeGreaterThan(0.88);
  });

  it("the tastes of a judge do not outweigh people, whoever votes first", () => {
    const judge: World = { scale: 1, first: 0, length: 0, own: 0, taste: [-1, 0, 0, 1.4] };
    for (const order of ["people first", "judge first"]) {
      const policy = createPolicy(joust, POOL);
      const byPeople = () => votes(policy, Random.seeded(1), 500);
      if (order === "people first") byPeople();
      votes(policy, Random.seeded(2), 4000, judge);
      if (order === "judge first") {
        expect(bestOf(policy)).not.toBe("a");
        byPeople();
      }
      expect([order, bestOf(policy)]).toEqual([order, "a"]);
      const choice = policy.choose(
        { x: Float64Array.of(1, 0), candidates: [0, 1, 2, 3], answers: 1 },
        Random.seeded(3),
      );
      expect([order, choice.pair]).toEqual([order, [0, 0]]);
    }
  });

  it("a judge that votes at random is found out and then changes nothing", () => {
    const policy = createPolicy(joust, POOL);
    votes(policy, Random.seeded(1), 600);
    const before = reportOf(policy)!.overall();
    votes(policy, Random.seeded(2), 3000, { scale: 0, first: 0, length: 0, own: 0 });
    const after = reportOf(policy)!.overall();
    expect(Math.abs(reportOf(policy)!.voterKinds()[0]!.scale.mean)).toBeLessThan(0.1);
    after.mean.forEach((mean, k) => {
      expect(Math.abs(mean - before.mean[k]!)).toBeLessThan(0.5 * before.sd[k]!);
    });
  });

  it("a fair judge makes the intervals of the models narrower", () => {
    const policy = createPolicy(joust, POOL);
    votes(policy, Random.seeded(1), 30);
    const before = reportOf(policy)!.overall();
    votes(policy, Random.seeded(2), 2000, { scale: 1, first: 0, length: 0, own: 0 });
    const after = reportOf(policy)!.overall();
    after.sd.forEach((sd, k) => {
      expect(sd).toBeLessThan(0.85 * before.sd[k]!);
    });
  });

  it("a metric has its own level and scale", () => {
    const policy = createPolicy(joust, POOL);
    const random = Random.seeded(4);
    votes(policy, random.split("people"), 600);
    for (let i = 0; i < 8000; i++) {
      const model = random.integer(K);
      const like = random.uniform() < sigmoid(0.8 * TRUTH[model]! + 1.5);
      const x = Float64Array.of(1, 0);
      const origin = { kind: "metric:passed" };
      policy.learn({ kind: "rating", x, model, rating: like ? 1 : -1, origin }, random);
    }
    const [metric] = reportOf(policy)!.voterKinds();
    expect(metric).toMatchObject({ kind: "metric:passed", votes: 8000 });
    expect(metric!.length).toBeUndefined();
    expect(Math.abs(metric!.scale.mean - 0.8)).toBeLessThan(3 * metric!.scale.sd);
    expect(Math.abs(metric!.first.mean - 1.5)).toBeLessThan(3 * metric!.first.sd);
  });

  it("a metric of whole sessions is credited to their answers, and intervals still cover", () => {
    let inside = 0;
    for (let seed = 0; seed < 20; seed++) {
      const policy = createPolicy(joust, POOL);
      const random = Random.seeded(seed);
      votes(policy, random.split("people"), 60);
      const people = reportOf(policy)!.onCategory(0);
      for (let i = 0; i < 1000; i++) {
        // Two models share a session of four answers; its success depends on their mean quality.
        const pair = [random.integer(K), random.integer(K)];
        const answers = [pair[0]!, pair[0]!, pair[0]!, pair[1]!];
        const mean = answers.reduce((sum, k) => sum + TRUTH[k]! / answers.length, 0);
        const rating = random.uniform() < sigmoid(1.5 * mean + 0.5) ? 1 : -1;
        for (const model of answers) {
          const origin = { kind: "metric:solved" };
          const weight = 1 / answers.length;
          const x = Float64Array.of(1, 0);
          policy.learn({ kind: "rating", x, model, rating, weight, origin }, random);
        }
      }
      const both = reportOf(policy)!.onCategory(0);
      expect(both.sd[0]!).toBeLessThan(people.sd[0]!);
      for (let k = 0; k < K; k++) {
        // Quality has the unit of a margin: a logit of 1 is a margin of 1/2.
        if (Math.abs(both.mean[k]! - TRUTH[k]! / 2) < 1.96 * both.sd[k]!) inside++;
      }
    }
    expect(inside / (20 * K)).toBeGreaterThan(0.9);
  });

  it("a signal with as many likes as dislikes does not punish the model that answers most", () => {
    let inside = 0;
    for (let seed = 0; seed < 20; seed++) {
      const policy = createPolicy(joust, POOL);
      const random = Random.seeded(seed);
      let owed = 0;
      for (let i = 0; i < 4000; i++) {
        // Model 0 gives nine of ten answers. All models have the same rate of dislikes.
        const model = random.uniform() < 0.9 ? 0 : 1 + random.integer(K - 1);
        const isDisliked = random.uniform() < 0.1;
        if (!isDisliked && owed === 0) continue;
        owed += isDisliked ? 1 : -1;
        const rating = isDisliked ? -1 : 1;
        const origin = { kind: "signal:regenerated" };
        policy.learn({ kind: "rating", x: Float64Array.of(1, 0), model, rating, origin }, random);
      }
      const { mean, sd } = reportOf(policy)!.onCategory(0);
      if (Math.abs(mean[0]!) < 1.96 * sd[0]!) inside++;
    }
    expect(inside).toBeGreaterThanOrEqual(18);
  });

  it("a restored policy goes on with the same numbers, also with a model added and one removed", () => {
    const judge: World = { scale: 0.6, first: 0.4, length: 0.8, own: 0.7 };
    const policy = createPolicy(joust, POOL);
    votes(policy, Random.seeded(1), 50);
    votes(policy, Random.seeded(2), 50, judge);
    const copy = createPolicy(joust, POOL);
    copy.restore(structuredClone(policy.snapshot()));
    for (const one of [policy, copy]) {
      votes(one, Random.seeded(3), 20, judge);
      votes(one, Random.seeded(4), 20);
    }
    expect(copy.snapshot()).toEqual(policy.snapshot());
    expect(reportOf(copy)!.voterKinds()).toEqual(reportOf(policy)!.voterKinds());

    const changed = createPolicy(joust, { ...POOL, models: ["d", "new", "a", "b"] });
    changed.restore(structuredClone(policy.snapshot()));
    expect(reportOf(changed)!.voterKinds()).toHaveLength(1);
    expect(changed.snapshot().models).toEqual(["d", "new", "a", "b"]);
    votes(changed, Random.seeded(5), 20, judge);
    expect(Number.isFinite(reportOf(changed)!.overall().sd[1]!)).toBe(true);
  });

  it("more kinds than there is room for count as one", () => {
    const policy = createPolicy(joust, POOL);
    const x = Float64Array.of(1, 0);
    for (let i = 0; i < 40; i++) {
      const origin = { kind: `judge:${i}` };
      policy.learn({ kind: "duel", x, pair: [0, 1], outcome: "a", origin }, Random.seeded(1));
    }
    const kinds = reportOf(policy)!.voterKinds();
    expect(kinds).toHaveLength(16);
    expect(kinds.at(-1)).toMatchObject({ kind: "others", votes: 25 });
  });
});
