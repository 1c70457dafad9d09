import { Random } from "../../random/random.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { View } from "../routing/plan.ts";
import { lambdaOf } from "../tradeoff.ts";
import { plainValues } from "./standings.ts";
import { type TrafficQuery, trafficOf } from "./traffic.ts";
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
export function tradeoffCurve(router: LiveRouter): object {
  const { view } = router;
  const traffic = trafficOf(view, router.recent.all);
  const values = traffic.map(({ w }) => valuesOn(view, w));
  const worlds = imagined(view, traffic);
  return {
    object: "tradeoff",
    router: router.name,
    current: router.config.cost_quality_tradeoff,
    posterior_version: view.version,
    recent_queries: traffic.length,
    points: GRID.map((tradeoff) => pointAt(tradeoff, view, traffic, values, worlds)),
  };
}

const GRID = Array.from({ length: 21 }, (_, i) => i / 2);

function pointAt(
  tradeoff: number,
  { pool }: View,
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

function valuesOn(view: View, w: Float64Array): Float64Array {
  return view.router.policy.estimate?.(w).mean ?? plainValues(view, w);
}

const WORLDS = 100;

/** Utilities relative to the pool's mean: by world, then by query. */
function imagined(view: View, traffic: readonly TrafficQuery[]): Float64Array[][] {
  const { policy } = view.router;
  if (!policy.imagine) return [];
  const random = Random.seeded(view.version).split("tradeoff");
  return Array.from({ length: WORLDS }, () => {
    const { utilities } = policy.imagine!(random);
    return traffic.map(({ w }) => {
      const f = utilities(w);
      const middle = f.reduce((sum, value) => sum + value, 0) / f.length;
      return f.map((value) => value - middle);
    });
  });
}
