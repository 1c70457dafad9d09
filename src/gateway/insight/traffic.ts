import { mean } from "../../core/linalg/linalg.ts";
import type { RecentQuery } from "../routing/recent-queries.ts";
import type { RouterView } from "../routing/router-view.ts";

/** What is believed of a pool: of the router that is served, or of a log that was folded again. */
export type Belief = Pick<RouterView, "pool" | "router" | "version" | "membership">;

/** A recent query in the terms of the present pool: models are places in it. */
export interface TrafficQuery {
  /** Its membership of the categories. */
  readonly w: Float64Array;
  readonly candidates: readonly number[];
  /** US dollars that each of the pool was expected to cost; NaN for those that were no candidates. */
  readonly costs: Float64Array | undefined;
  /** Who answered: one or two. */
  readonly served: readonly number[];
}

/** What was asked lately; queries of models that have left the pool are left out. */
export function trafficOf(belief: Belief, recent: readonly RecentQuery[]): TrafficQuery[] {
  const { pool, membership } = belief;
  const place = new Map(pool.models.map((name, k) => [name, k]));
  const dimension = pool.centroids[0]!.length;
  return recent.flatMap(({ x, candidates, costs, pair }) => {
    const served = [...new Set(pair)].map((name) => place.get(name) ?? -1);
    const places = candidates.map((name) => place.get(name) ?? -1);
    if (x.length !== dimension || served.includes(-1)) return [];
    const all = costs && new Float64Array(pool.models.length).fill(Number.NaN);
    places.forEach((k, i) => {
      if (k >= 0) all?.fill(costs![i]!, k, k + 1);
    });
    return [{ w: membership(x), candidates: places.filter((k) => k >= 0), costs: all, served }];
  });
}

/** Shares of the categories in it; equal ones where nothing was asked yet. */
export function mixOf(belief: Belief, traffic: readonly TrafficQuery[]): Float64Array {
  const M = belief.pool.categories.length;
  if (traffic.length === 0) return new Float64Array(M).fill(1 / M);
  return mean(traffic.map(({ w }) => w));
}
