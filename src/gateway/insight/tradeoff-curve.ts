import { Random } from "../../random/random.ts";
import type { RecentQuery } from "../routing/recent-queries.ts";
import { lambdaOf } from "../tradeoff.ts";
import { plainValues } from "./standings.ts";
import { type Belief, type TrafficQuery, trafficOf } from "./traffic.ts";
import { type Band, bandOf } from "./worth.ts";

/** What a setting of cost_quality_tradeoff would do to the recent queries. */
interface Point {
  readonly tradeoff: number;
  readonly lambda: number;
  /** Of the queries, by the model that would answer. */
  readonly shares: Readonly<Record<string, number>>;
  /** Relative to the pool's mean. */
  readonly quality: Band | { readonly mean: number };
  /** US dollars a request; null where prices are not known. */
  readonly cost: number | null;
}

/** GET /v1/tradeoff: the curve from quality alone to the cheapest. */
export function tradeoffCurve(
  router: string,
  belief: Belief,
  recent: readonly RecentQuery[],
  current: number | null,
): object {
  const traffic = trafficOf(belief, recent);
  const values = traffic.map(({ w }) => valuesOn(belief, w));
  const worlds = imagined(belief, traffic);
  return {
    object: "tradeoff",
    router,
    current,
    posterior_version: belief.version,
    recent_queries: traffic.length,
    points: GRID.map((tradeoff) => pointAt(tradeoff, belief, traffic, values, worlds)),
  };
}

const GRID = Array.from({ length: 21 }, (_, i) => i / 2);

function pointAt(
  tradeoff: number,
  { pool }: Belief,
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
  worlds: readonly (readonly Float64Array[])[],
): Point {
  const lambda = lambdaOf(tradeoff);
  const shares: Record<string, number> = {};
  const chosen = traffic.map(({ candidates, costs }, i) => {
    const dearest = costs ? candidates.reduce((top, k) => Math.max(top, costs[k]!), 0) : 0;
    const worth = (k: number) =>
      values[i]![k]! - (dearest > 0 ? (lambda * costs![k]!) / dearest : 0);
    return candidates.reduce((a, b) => (worth(b) > worth(a) ? b : a));
  });
  let cost = 0;
  let isPriced = traffic.length > 0;
  chosen.forEach((k, i) => {
    const name = pool.models[k]!;
    shares[name] = (shares[name] ?? 0) + 1 / traffic.length;
    const price = traffic[i]!.costs?.[k];
    isPriced &&= price !== undefined;
    cost += (price ?? 0) / traffic.length;
  });
  const meanOver = (of: readonly Float64Array[]) =>
    chosen.reduce((sum, k, i) => sum + of[i]![k]! / traffic.length, 0);
  const quality =
    worlds.length > 0 && traffic.length > 0
      ? { ...bandOf(worlds.map(meanOver)), mean: meanOver(values) }
      : { mean: meanOver(values) };
  return { tradeoff, lambda, shares, quality, cost: isPriced ? cost : null };
}

function valuesOn(belief: Belief, w: Float64Array): Float64Array {
  return belief.router.policy.estimate?.(w).mean ?? plainValues(belief, w);
}

const WORLDS = 100;

/** Utilities relative to the pool's mean: by world, then by query. */
function imagined(belief: Belief, traffic: readonly TrafficQuery[]): Float64Array[][] {
  const { policy } = belief.router;
  if (!policy.imagine) return [];
  const random = Random.seeded(1).split("tradeoff");
  return Array.from({ length: WORLDS }, () => {
    const { utilities } = policy.imagine!(random);
    return traffic.map(({ w }) => {
      const f = utilities(w);
      const middle = f.reduce((sum, value) => sum + value, 0) / f.length;
      return f.map((value) => value - middle);
    });
  });
}
