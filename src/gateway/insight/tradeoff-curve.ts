import type { Tradeoff, TradeoffPoint } from "../../api/insight.ts";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { RecentQuery } from "../routing/recent-queries.ts";
import { lambdaOf } from "../routing/tradeoff.ts";
import { advantageOf } from "./advantage.ts";
import { choicesAt, meanUtilityOf } from "./choices.ts";
import { plainValues } from "./standings.ts";
import { type Belief, type TrafficQuery, trafficOf } from "./traffic.ts";
import { worldsOf } from "./worlds.ts";
import { bandOf } from "./worth.ts";

/** GET /v1/tradeoff: the curve from quality alone to the cheapest, and what routing gains where it stands. */
export function tradeoffCurve<Current extends number | null>(
  router: string,
  belief: Belief,
  recent: readonly RecentQuery[],
  current: Current,
): Omit<Tradeoff, "current"> & { readonly current: Current } {
  const traffic = trafficOf(belief, recent);
  const values = traffic.map(({ w }) => valuesOn(belief, w));
  const worlds = worldsOf(belief, Random.seeded(1).split("tradeoff"), WORLDS);
  const { models } = belief.pool;
  const advantage =
    current === null
      ? null
      : advantageOf(choicesAt(current, traffic, values), current, traffic, values, worlds);
  return {
    object: "tradeoff",
    router,
    current,
    posterior_version: belief.version,
    recent_queries: traffic.length,
    advantage: advantage && { ...advantage, over: models[advantage.over]! },
    points: GRID.map((tradeoff) => pointAt(tradeoff, models, traffic, values, worlds)),
  };
}

const GRID = Array.from({ length: 21 }, (_, i) => i / 2);
const WORLDS = 400;

function valuesOn(belief: Belief, w: Float64Array): Float64Array {
  return belief.router.policy.estimate?.(w).mean ?? plainValues(belief, w);
}

function pointAt(
  tradeoff: number,
  models: readonly string[],
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
  worlds: readonly PosteriorSample[],
): TradeoffPoint {
  const chosen = choicesAt(tradeoff, traffic, values);
  const shares: Record<string, number> = {};
  let [cost, mean] = [0, 0];
  let isPriced = traffic.length > 0;
  chosen.forEach((k, i) => {
    const name = models[k]!;
    shares[name] = (shares[name] ?? 0) + 1 / traffic.length;
    const price = traffic[i]!.costs?.[k];
    isPriced &&= price !== undefined;
    cost += (price ?? 0) / traffic.length;
    mean += values[i]![k]! / traffic.length;
  });
  const quality =
    worlds.length > 0 && traffic.length > 0
      ? { ...bandOf(worlds.map(meanUtilityOf(chosen, traffic))), mean }
      : { mean };
  return {
    tradeoff,
    lambda: lambdaOf(tradeoff),
    shares,
    quality,
    cost: isPriced ? cost : null,
  };
}
