import type { Tradeoff, TradeoffPoint } from "../../api/insight.ts";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { RecentQuery } from "../routing/recent-queries.ts";
import { lambdaOf } from "../routing/tradeoff.ts";
import { advantageOf } from "./advantage.ts";
import { choicesAt, meanUtilityOf } from "./choices.ts";
import { bandOf } from "./performance.ts";
import { samplesOf } from "./posterior-samples.ts";
import { plainValues } from "./standings.ts";
import { type PosteriorView, type TrafficQuery, trafficOf } from "./traffic.ts";

/** GET /v1/tradeoff: the recent queries at each setting of the trade-off, and the gain of routing at the present one. */
export function tradeoffCurve<Current extends number | null>(
  router: string,
  posterior: PosteriorView,
  recent: readonly RecentQuery[],
  current: Current,
): Omit<Tradeoff, "current"> & { readonly current: Current } {
  const traffic = trafficOf(posterior, recent);
  const values = traffic.map(({ w }) => valuesOn(posterior, w));
  const samples = samplesOf(posterior, Random.seeded(1).split("tradeoff"), SAMPLES);
  const { models } = posterior.pool;
  const advantage =
    current === null
      ? null
      : advantageOf(choicesAt(current, traffic, values), current, traffic, values, samples);
  return {
    object: "tradeoff",
    router,
    current,
    posterior_version: posterior.version,
    recent_queries: traffic.length,
    advantage: advantage && { ...advantage, over: models[advantage.over]! },
    points: GRID.map((tradeoff) => pointAt(tradeoff, models, traffic, values, samples)),
  };
}

const GRID = Array.from({ length: 21 }, (_, i) => i / 2);
const SAMPLES = 400;

function valuesOn(posterior: PosteriorView, w: Float64Array): Float64Array {
  return posterior.router.policy.estimate?.(w).mean ?? plainValues(posterior, w);
}

function pointAt(
  tradeoff: number,
  models: readonly string[],
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
  samples: readonly PosteriorSample[],
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
    samples.length > 0 && traffic.length > 0
      ? { ...bandOf(samples.map(meanUtilityOf(chosen, traffic))), mean }
      : { mean };
  return {
    tradeoff,
    lambda: lambdaOf(tradeoff),
    shares,
    quality,
    cost: isPriced ? cost : null,
  };
}
