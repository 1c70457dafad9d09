import { describe, expect, it } from "vitest";
import { categoryMembership } from "../../core/bandit/features.ts";
import { createPolicy } from "../../core/bandit/options.ts";
import { greedy } from "../../core/bandit/policies/greedy.ts";
import { joust } from "../../core/bandit/policies/joust.ts";
import { Random } from "../../core/random/random.ts";
import { Router } from "../../core/router.ts";
import { type ForecastInput, forecast } from "./forecast.ts";
import { checkForecast, judgeForecasts } from "./forecast-worlds.fixture.ts";
import { comparableQueries, payoffOf, trafficGroups } from "./payoff.ts";

const centroids = [Float64Array.of(1, 0), Float64Array.of(0, 1)];
const membership = categoryMembership(centroids);
const candidates = [0, 1];
const traffic = centroids.map((x) => {
  return { x, w: membership(x), candidates, costs: Float64Array.of(0.001, 0.002) };
});
/** A pool whose told scores have small errors. */
const poolOf = (...told: readonly (readonly [number, number])[]) => ({
  models: told.map((_, k) => `m${k}`),
  categories: ["x", "y"],
  centroids,
  told: told.map((row) => Float64Array.from(row)),
  toldErrors: told.map((row) => Float64Array.from(row, () => 0.02)),
});
const inputOf = (pool: ReturnType<typeof poolOf>): ForecastInput => ({
  copy: () => new Router(createPolicy(joust, pool)),
  traffic,
  tradeoff: 0,
  horizon: 200,
  futures: 20,
});

it("compares only queries with a choice, if no model can answer all of them", () => {
  const [query] = traffic;
  const mixed = [[0], [0, 1], [1, 2], [1]].map((able) => ({ ...query!, candidates: able }));
  const comparable = comparableQueries(mixed);
  expect(comparable.map(({ candidates: able }) => able)).toEqual([
    [0, 1],
    [1, 2],
  ]);
  const policy = createPolicy(joust, poolOf([0.9, 0.3], [0.3, 0.9], [0.5, 0.5]));
  const free = (queries: typeof mixed) => queries.map((one) => ({ ...one, costs: undefined }));
  expect(payoffOf(policy, trafficGroups(free(comparable)), 0)).toEqual({ gain: 0, sd: 0, sure: 0 });
  expect(() => payoffOf(policy, trafficGroups(free(mixed)), 0)).toThrow();
  expect(comparableQueries(mixed.slice(0, 1))).toEqual([]);
});

describe("a forecast", () => {
  it("says that routing pays now if models are known to be best in different categories", () => {
    const found = forecast(inputOf(poolOf([0.9, 0.3], [0.3, 0.9])), Random.seeded(1))!;
    expect(found).toMatchObject({
      verdict: "now",
      votes: { median: 0, lo: 0, hi: 0 },
      dollars: { median: 0 },
    });
    expect(found.sure).toBeGreaterThan(0.95);
  });

  it("says that routing never pays if one model is known to be best everywhere", () => {
    const found = forecast(inputOf(poolOf([0.9, 0.9], [0.2, 0.2])), Random.seeded(1))!;
    expect(found).toMatchObject({ verdict: "never", votes: { median: null, hi: null } });
    expect(found.reached).toBeLessThan(0.3);
  });

  it("depends on the seed alone, and does not change the router", () => {
    const router = new Router(createPolicy(joust, poolOf([0.6, 0.5], [0.5, 0.6])));
    const before = structuredClone(router.snapshot());
    const input = {
      ...inputOf(poolOf([0.6, 0.5], [0.5, 0.6])),
      copy: () => {
        const own = new Router(createPolicy(joust, poolOf([0.6, 0.5], [0.5, 0.6])));
        own.restore(router.snapshot());
        return own;
      },
    };
    const first = forecast(input, Random.seeded(3));
    expect(forecast(input, Random.seeded(3))).toEqual(first);
    expect(router.snapshot()).toEqual(before);
  });

  it("is impossible for a policy without a posterior, or without traffic", () => {
    const input = inputOf(poolOf([0.6, 0.5], [0.5, 0.6]));
    const copy = () => new Router(createPolicy(greedy, poolOf([0.6, 0.5], [0.5, 0.6])));
    expect(forecast({ ...input, copy }, Random.seeded(1))).toBeUndefined();
    expect(forecast({ ...input, traffic: [] }, Random.seeded(1))).toBeUndefined();
  });
});

describe("the payoff of routing", () => {
  const groups = trafficGroups(traffic);

  it("is the gain over the best single model, price included", () => {
    const policy = createPolicy(joust, poolOf([0.9, 0.5], [0.3, 0.9]));
    const free = payoffOf(policy, groups, 0);
    expect(free.gain).toBeGreaterThan(0.1);
    expect(free.sure).toBeGreaterThan(0.95);
    // At a high price of quality, the cheaper model is best everywhere.
    expect(payoffOf(policy, groups, 9.5)).toEqual({ gain: 0, sd: 0, sure: 0 });
  });
});

it("forecasts contain the truth as often as they state, and one that always says late does not", () => {
  const world = { kind: "prior", models: 3, voteScale: 4, ties: 0, told: "none" } as const;
  const settings = { world, after: 60, horizon: 500, futures: 20, tradeoff: 0 };
  const checked = Array.from({ length: 12 }, (_, i) => checkForecast(settings, 40 + i)).filter(
    (one) => one !== undefined,
  );
  expect(checked.length).toBeGreaterThanOrEqual(8);
  const own = judgeForecasts(checked, settings.horizon);
  expect(own.inside).toBeGreaterThanOrEqual(0.75);
  expect(own.near).toBeGreaterThan(0.5);
  const late = { median: null, lo: null, hi: null };
  const always = judgeForecasts(
    checked.map(({ truth }) => ({ truth, votes: late })),
    settings.horizon,
  );
  expect(always.inside).toBeLessThan(0.75);
});
