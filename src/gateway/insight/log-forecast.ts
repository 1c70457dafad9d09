import { categoryMembership } from "../../core/bandit/features.ts";
import type { Pool } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import { type FindPolicy, routerOf } from "../../learner/fold.ts";
import { History } from "../../learner/history.ts";
import type { Configured } from "../../store/events.ts";
import type { Store } from "../../store/store.ts";
import { RecentQueries } from "../routing/recent.ts";
import { type Forecast, forecast } from "./forecast.ts";
import { comparableQueries, type ForecastQuery } from "./payoff.ts";
import { trafficOf } from "./traffic.ts";

export interface LogForecastOptions {
  readonly findPolicy: FindPolicy;
  readonly tradeoff: number;
  readonly horizon: number;
  readonly futures: number;
  readonly onFuture?: ((future: number) => void) | undefined;
}

/** A forecast with the version of the posterior that it starts from. */
export interface LogForecast extends Forecast {
  readonly version: number;
  /** Votes that the posterior has learned from. */
  readonly learned: number;
}

/**
 * Forecasts from the log of a router: its posterior and its recent queries with a choice of models, or its
 * categories in equal shares if it has had no such query. Returns undefined if the router was never configured,
 * or if its policy has no posterior to draw from.
 */
export async function forecastLog(
  store: Store,
  router: string,
  options: LogForecastOptions,
): Promise<LogForecast | undefined> {
  const { findPolicy } = options;
  const history = new History(store, router, { findPolicy, snapshots: true });
  await history.replay();
  const { router: learned, configuration, position: version, counts } = history.fold;
  if (!learned || !configuration) return undefined;
  const { pool, encoder } = configuration;
  const recent = new RecentQueries();
  await recent.fill(store, router);
  const membership = categoryMembership(pool.centroids);
  const posterior = { pool, encoder, router: learned, version, membership };
  const seen = recent.all.flatMap((query) =>
    trafficOf(posterior, [query]).map((one) => ({ ...one, x: query.x })),
  );
  const comparable = comparableQueries(seen);
  const traffic = comparable.length > 0 ? comparable : assumedTraffic(pool, undefined);
  const snapshot = learned.snapshot();
  const copy = () => {
    const own = routerOf(configuration, findPolicy);
    own.restore(structuredClone(snapshot));
    return own;
  };
  const found = forecast({ ...options, copy, traffic }, Random.seeded(1));
  return found && { ...found, version, learned: counts.votes };
}

/**
 * Forecasts for a router that has no log: from its pool with the told scores. `costs` has the expected cost of an
 * answer of each model.
 */
export function forecastPool(
  configuration: Pick<Configured, "pool" | "policy" | "options" | "weighVoters">,
  costs: Float64Array | undefined,
  options: LogForecastOptions,
): LogForecast | undefined {
  const traffic = assumedTraffic(configuration.pool, costs);
  const copy = () => routerOf(configuration, options.findPolicy);
  const found = forecast({ ...options, copy, traffic }, Random.seeded(1));
  return found && { ...found, version: 0, learned: 0 };
}

/** One query of each category, for a router that has had none. */
function assumedTraffic(pool: Pool, costs: Float64Array | undefined): ForecastQuery[] {
  const membership = categoryMembership(pool.centroids);
  const candidates = pool.models.map((_, k) => k);
  return pool.centroids.map((x) => ({ x, w: membership(x), candidates, costs }));
}
