import { categoryMembership } from "../../core/bandit/features.ts";
import { createPolicy } from "../../core/bandit/options.ts";
import { joust } from "../../core/bandit/policies/joust.ts";
import { Random } from "../../core/random/random.ts";
import { Router } from "../../core/router.ts";
import { ENOUGH, forecast, isCheckpoint, type Quantiles, routeDuel } from "./forecast.ts";
import { payoffOf, trafficGroups } from "./payoff.ts";
import { byCategory, createWorld, type World } from "./worlds.fixture.ts";

export interface ForecastSettings {
  readonly world: World;
  /** Votes before the forecast. */
  readonly after: number;
  readonly horizon: number;
  readonly futures: number;
  readonly tradeoff: number;
}

/** A forecast beside the number of votes that it really took; Infinity if it took more than the horizon. */
export interface CheckedForecast {
  readonly votes: Quantiles;
  readonly truth: number;
}

/**
 * Lets a router collect votes in a world, forecasts, and lets it collect more votes until it is sure that
 * routing pays. Returns undefined if it was sure before the forecast.
 */
export function checkForecast(
  { world, after, horizon, futures, tradeoff }: ForecastSettings,
  seed: number,
): CheckedForecast | undefined {
  const random = Random.seeded(seed);
  const { pool, vote } = createWorld(world, random.split("world"));
  const membership = categoryMembership(pool.centroids);
  const candidates = pool.models.map((_, k) => k);
  const costs = Float64Array.from(candidates, (k) => (k + 1) / 1000);
  const traffic = byCategory.flatMap((vectors, m) =>
    vectors.map((x) => ({ x, m, w: membership(x), candidates, costs })),
  );
  const groups = trafficGroups(traffic);
  const create = () => new Router(createPolicy(joust, pool), { explore: 0.02 });
  const router = create();
  const [votes, queries] = [random.split("votes"), random.split("queries")];
  const play = (t: number) => {
    const query = traffic[queries.integer(traffic.length)]!;
    const decision = routeDuel(router, query, tradeoff, random.split("route").split(t));
    router.vote(decision, vote(decision.pair, query.m, query.x, votes), votes);
  };
  for (let t = 1; t <= after; t++) play(t);
  const snapshot = structuredClone(router.snapshot());
  const copy = () => {
    const own = create();
    own.restore(structuredClone(snapshot));
    return own;
  };
  const found = forecast({ copy, traffic, tradeoff, horizon, futures }, random.split("forecast"))!;
  if (found.verdict === "now") return undefined;
  for (let t = 1; t <= horizon; t++) {
    play(after + t);
    const isSure = () => payoffOf(router.policy, groups, tradeoff).sure >= ENOUGH;
    if (isCheckpoint(t) && isSure()) return { votes: found.votes, truth: t };
  }
  return { votes: found.votes, truth: Infinity };
}

/** Share of the true numbers inside the 90% intervals, and share of the medians within a factor of two of the truth. */
export function judgeForecasts(checked: readonly CheckedForecast[], horizon: number) {
  const share = (test: (one: CheckedForecast) => boolean) =>
    checked.filter(test).length / checked.length;
  return {
    inside: share(
      ({ votes, truth }) => (votes.lo ?? Infinity) <= truth && truth <= (votes.hi ?? Infinity),
    ),
    near: share(({ votes, truth }) => {
      // More than the horizon counts as the horizon.
      const [a, b] = [votes.median ?? Infinity, truth].map((n) => Math.min(n, horizon));
      return a! <= 2 * b! && b! <= 2 * a!;
    }),
  };
}
