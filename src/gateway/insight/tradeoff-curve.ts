import { Random } from "../../random/random.ts";
import type { RecentQuery } from "../routing/recent-queries.ts";
import { lambdaOf } from "../tradeoff.ts";
import { plainValues } from "./standings.ts";
import { type Belief, type TrafficQuery, trafficOf } from "./traffic.ts";
import { worldsOf } from "./worlds.ts";
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
  const values = overTraffic(traffic, (w) => valuesOn(belief, w));
  const random = Random.seeded(1).split("tradeoff");
  const worlds = worldsOf(belief, random, WORLDS).map(({ utilities }) =>
    overTraffic(traffic, utilities),
  );
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
const WORLDS = 100;

/** Of every query and model, relative to the mean of the models: one row a query. */
type Utilities = readonly Float64Array[];

function overTraffic(
  traffic: readonly TrafficQuery[],
  utilities: (w: Float64Array) => Float64Array,
): Utilities {
  return traffic.map(({ w }) => {
    const f = utilities(w);
    let middle = 0;
    for (let k = 0; k < f.length; k++) middle += f[k]! / f.length;
    for (let k = 0; k < f.length; k++) f[k]! -= middle;
    return f;
  });
}

function valuesOn(belief: Belief, w: Float64Array): Float64Array {
  return belief.router.policy.estimate?.(w).mean ?? plainValues(belief, w);
}

function pointAt(
  tradeoff: number,
  { pool }: Belief,
  traffic: readonly TrafficQuery[],
  values: Utilities,
  worlds: readonly Utilities[],
): Point {
  const lambda = lambdaOf(tradeoff);
  const chosen = traffic.map((query, i) => choiceOf(query, values[i]!, lambda));
  const shares: Record<string, number> = {};
  let cost = 0;
  let isPriced = traffic.length > 0;
  chosen.forEach((k, i) => {
    const name = pool.models[k]!;
    shares[name] = (shares[name] ?? 0) + 1 / traffic.length;
    const price = traffic[i]!.costs?.[k];
    isPriced &&= price !== undefined;
    cost += (price ?? 0) / traffic.length;
  });
  const mean = meanOf(chosen, values);
  const quality =
    worlds.length > 0 && traffic.length > 0
      ? { ...bandOf(worlds.map((world) => meanOf(chosen, world))), mean }
      : { mean };
  return { tradeoff, lambda, shares, quality, cost: isPriced ? cost : null };
}

/** The model that is worth most when its price is taken off. */
function choiceOf(
  { candidates, costs }: TrafficQuery,
  values: Float64Array,
  lambda: number,
): number {
  let dearest = 0;
  if (costs) for (const k of candidates) dearest = Math.max(dearest, costs[k]!);
  let best = -1;
  let most = -Infinity;
  for (const k of candidates) {
    const net = values[k]! - (dearest > 0 ? (lambda * costs![k]!) / dearest : 0);
    if (net > most) [best, most] = [k, net];
  }
  return best;
}

function meanOf(chosen: readonly number[], utilities: Utilities): number {
  let sum = 0;
  for (let i = 0; i < chosen.length; i++) sum += utilities[i]![chosen[i]!]!;
  return chosen.length > 0 ? sum / chosen.length : 0;
}
