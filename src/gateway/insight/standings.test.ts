import { expect, it } from "vitest";
import { categoryMembership } from "../../core/bandit/features.ts";
import { createPolicy } from "../../core/bandit/options.ts";
import { joust } from "../../core/bandit/policies/joust.ts";
import { easyProblem } from "../../core/bandit/policy.case.ts";
import { Random } from "../../core/random/random.ts";
import { Router } from "../../core/router.ts";
import type { RecentQuery } from "../routing/recent.ts";
import { numbersOf, windowOf } from "./numbers.ts";
import { leaderboardOf } from "./standings.ts";

const { pool: told, at } = easyProblem(1);
const pool = { ...told, told: undefined };
const membership = categoryMembership(pool.centroids);
const node = () => ({
  pool,
  encoder: "static",
  router: new Router(createPolicy(joust, pool)),
  version: 0,
  membership,
});

function vote(router: Router, count: number): void {
  for (let t = 0; t < count; t++) {
    const pair = [t % 4, (t + 1 + (t % 3)) % 4] as const;
    const outcome = t % 5 === 0 ? "tie" : pair[0] < pair[1] ? "a" : "b";
    router.vote({ x: at(t).x, pair, values: undefined }, outcome, Random.seeded(t));
  }
}

const boardOf = (posterior: ReturnType<typeof node>) => leaderboardOf(posterior, Random.seeded(1));

it("gives equal models the same probability of being the best", () => {
  const { overall, categories } = boardOf(node());
  for (const { models } of [{ models: overall }, ...categories]) {
    for (const { best, value } of models) {
      expect(best).toBeCloseTo(1 / 4, 12);
      expect(value).toBeCloseTo(0, 12);
    }
  }
});

it("gives all models without votes the same probability, although other models have votes", () => {
  const posterior = node();
  for (let t = 0; t < 20; t++) {
    const duel = { x: at(t).x, pair: [0, 1] as const, values: undefined };
    posterior.router.vote(duel, "a", Random.seeded(t));
  }
  const chances = new Map(boardOf(posterior).overall.map(({ model, best }) => [model, best!]));
  const [a, b, c, d] = pool.models.map((model) => chances.get(model)!);
  expect(c).toBe(d);
  expect(a).toBeGreaterThan(b!);
  expect(c).toBeGreaterThan(b!);
});

it("is the same on all nodes with the same posterior, whatever queries they have seen", () => {
  const learner = node();
  vote(learner.router, 150);
  const others = [0, 1].map((n) => {
    const follower = node();
    follower.router.restore(structuredClone(learner.router.snapshot()));
    const recent = Array.from({ length: 30 }, (_, t): RecentQuery => {
      const { x } = at(1000 * n + t);
      const pair = [pool.models[0]!, pool.models[0]!] as const;
      return { at: t, encoder: "static", x, candidates: pool.models, pair };
    });
    const window = windowOf(1, 0);
    return numbersOf({ posterior: follower, recent, window, tallies: [], prices: new Map() });
  });
  expect(others[0]!.leaderboard).toEqual(others[1]!.leaderboard);
  expect(others[0]!.regret).not.toEqual(others[1]!.regret);
});
