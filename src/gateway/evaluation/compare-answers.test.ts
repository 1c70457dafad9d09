import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { categoryMembership } from "../../core/bandit/features.ts";
import { createPolicy } from "../../core/bandit/options.ts";
import { joust } from "../../core/bandit/policies/joust.ts";
import { reportOf } from "../../core/bandit/policies/joust-report.ts";
import { Random } from "../../core/random/random.ts";
import { systemClock } from "../clock/clock.ts";
import { verdictOfOrders } from "../feedback/judge-prompt.ts";
import { newFolder } from "../gateway.fixture.ts";
import { ActivePairs } from "./active-pairs.ts";
import { compareAnswers, type PairChooser } from "./compare-answers.ts";
import { openCalls, simulatedModel } from "./models.fixture.ts";
import { RandomPairs } from "./random-pairs.ts";

it.each([
  ["a", "b", "a"],
  ["b", "a", "b"],
  ["a", "a", "tie"],
  ["a", "tie", "tie"],
  ["tie", "tie", "tie"],
  ["both_bad", "both_bad", "both_bad"],
  ["both_bad", "a", "tie"],
] as const)("the verdicts %s and, in the other order, %s mean %s", (forwards, backwards, both) => {
  expect(verdictOfOrders(forwards, backwards)).toBe(both);
});

const never = new AbortController().signal;
const prompts = Array.from({ length: 6 }, (_, i) => ({ id: `p${i}`, text: `prompt ${i}` }));

/** Models m0 to m3, of which a later one is better, and a judge that prefers the first of equal answers. */
async function openComparison(file = join(newFolder(), "journal.jsonl")) {
  let asked = 0;
  const models = [0, 1, 2, 3].map((k) =>
    simulatedModel(`m${k}`, () => {
      asked++;
      return { text: `quality ${k % 3}`, cost: 0.0001 };
    }),
  );
  const judge = simulatedModel("judge", (text) => {
    const [a, b] = Array.from(text.matchAll(/quality (\d)/g), ([, quality]) => Number(quality));
    return { text: a! >= b! ? "A" : "B", cost: 0.0001 };
  });
  const open = await openCalls(file, 1);
  const parts = { ...open, judge, clock: systemClock };
  const compare = (chooser: PairChooser, count: number) =>
    compareAnswers(prompts, models, chooser, count, parts, { concurrency: 3, signal: never });
  return { ...open, compare, answers: () => asked };
}

it("asks the judge in both orders, so that a preference for the first answer is a tie", async () => {
  const { compare, journal } = await openComparison();
  const { compared, undecided } = await compare(new RandomPairs(6, 4, Random.seeded(1)), 30);
  expect([compared.length, undecided]).toEqual([30, 0]);
  for (const { a, b, outcome } of compared) {
    const [p, q] = [a, b].map((name) => Number(name.slice(1)) % 3);
    expect(outcome).toBe(p === q ? "tie" : p! > q! ? "a" : "b");
  }
  expect(journal.compared).toEqual(compared);
});

it("continues from the journal without comparing or paying again", async () => {
  const file = join(newFolder(), "journal.jsonl");
  const first = await openComparison(file);
  await first.compare(new RandomPairs(6, 4, Random.seeded(1)), 20);
  const { spent } = first.limit;
  first.journal.close();
  const again = await openComparison(file);
  const { compared } = await again.compare(new RandomPairs(6, 4, Random.seeded(1)), 20);
  expect(compared).toEqual(first.journal.compared);
  expect([again.answers(), again.limit.spent]).toEqual([0, spent]);
  const more = await again.compare(new RandomPairs(6, 4, Random.seeded(2)), 36);
  const pairs = more.compared.map(({ prompt, a, b }) => [prompt, ...[a, b].toSorted()].join());
  expect([pairs.length, new Set(pairs).size]).toEqual([36, 36]);
  // Each of the 4 models answered each of the 6 prompts at most once.
  expect(first.answers() + again.answers()).toBeLessThanOrEqual(24);
});

it("pays for no more answers after the judge has failed again and again", async () => {
  const file = join(newFolder(), "journal.jsonl");
  const open = await openCalls(file, 1);
  let answers = 0;
  const models = [0, 1, 2, 3].map((k) =>
    simulatedModel(`m${k}`, () => {
      answers++;
      return { text: `quality ${k}`, cost: 0.0001 };
    }),
  );
  const judge = simulatedModel("judge", () => ({ error: "status" }));
  const parts = { ...open, judge, clock: systemClock };
  const run = { concurrency: 1, signal: never };
  const chooser = new RandomPairs(6, 4, Random.seeded(1));
  const { compared } = await compareAnswers(prompts, models, chooser, 36, parts, run);
  expect(compared).toEqual([]);
  // Three pairs with six failed verdicts; all pairs would have needed 24 answers.
  expect(answers).toBeLessThanOrEqual(6);
});

describe("random pairs", () => {
  it("compare every pair once on every prompt, and every prompt equally often", () => {
    const pairs = new RandomPairs(5, 4, Random.seeded(3));
    const seen = new Set<string>();
    const counts = [0, 0, 0, 0, 0];
    for (let i = 0; i < 30; i++) {
      const { prompt, a, b } = pairs.next()!;
      counts[prompt]!++;
      seen.add([prompt, Math.min(a, b), Math.max(a, b)].join());
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }
    expect(seen.size).toBe(30);
    expect(pairs.next()).toBeUndefined();
  });

  it("leave out models that have been given up", () => {
    const pairs = new RandomPairs(5, 3, Random.seeded(3), (k) => k !== 1);
    const all = Array.from({ length: 5 }, () => pairs.next()!);
    expect(new Set(all.flatMap(({ a, b }) => [a, b]))).toEqual(new Set([0, 2]));
    expect(pairs.next()).toBeUndefined();
  });
});

it("active pairs leave out models that have been given up, even the first one", () => {
  const centroids = [Float64Array.of(1, 0), Float64Array.of(0, 1)];
  const pool = { models: ["down", "fair", "good"], categories: ["x", "y"], centroids };
  const memberships = centroids.map(categoryMembership(centroids));
  const prompts = { embeddings: centroids, memberships };
  const usable = new Set([0, 1, 2]);
  const isUsable = (k: number) => usable.has(k);
  const policy = createPolicy(joust, pool);
  const pairs = new ActivePairs(policy, prompts, 3, Random.seeded(5), isUsable);
  expect(pairs.next()).toBeDefined();
  usable.delete(0);
  const { a, b } = pairs.next()!;
  expect([a, b].toSorted()).toEqual([1, 2]);
});

it("active pairs compare the models that may be best, where most prompts are", () => {
  const centroids = [Float64Array.of(1, 0), Float64Array.of(0, 1)];
  const models = ["poor", "fair", "good", "best"];
  const pool = { models, categories: ["often", "seldom"], centroids };
  const embeddings = Array.from({ length: 100 }, (_, i) => centroids[i < 90 ? 0 : 1]!);
  const memberships = embeddings.map(categoryMembership(centroids));
  const policy = createPolicy(joust, pool);
  const pairs = new ActivePairs(policy, { embeddings, memberships }, 4, Random.seeded(5));
  const late = { best: 0, seldom: 0 };
  for (let i = 0; i < 120; i++) {
    const pair = pairs.next()!;
    expect(pair.a).not.toBe(pair.b);
    pairs.learn(pair, pair.a > pair.b ? "a" : "b");
    if (i < 60) continue;
    late.best += Number(pair.a + pair.b === 5);
    late.seldom += Number(pair.prompt >= 90);
  }
  // With random pairs, 10 of 60 would be good against best; with equal shares, 30 would be of the seldom category.
  expect(late.best).toBeGreaterThan(17);
  expect(late.seldom).toBeLessThan(20);
  const { mean } = reportOf(policy)!.overall();
  expect(mean.indexOf(Math.max(...mean))).toBe(3);
});
