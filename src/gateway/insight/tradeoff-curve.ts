import type { Band } from "../../api/common.ts";
import type { Tradeoff, TradeoffPoint } from "../../api/insight.ts";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { axpy } from "../../core/linalg/linalg.ts";
import { Random } from "../../core/random/random.ts";
import { costWeightOf } from "../routing/choose.ts";
import type { RecentQuery } from "../routing/recent.ts";
import { bandOf } from "./performance.ts";
import { plainValues } from "./standings.ts";
import { type PosteriorView, samplesOf, type TrafficQuery, trafficOf } from "./traffic.ts";

/**
 * GET /v1/tradeoff: the effect of each setting of the trade-off on the recent queries,
 * and the gain of routing at the current setting. `permitted` are the models of a key that may not use all of them.
 */
export function tradeoffCurve<Current extends number | null>(
  router: string,
  posterior: PosteriorView,
  recent: readonly RecentQuery[],
  current: Current,
  permitted?: readonly string[],
): Omit<Tradeoff, "current"> & { readonly current: Current } {
  const traffic = trafficAmong(permitted, posterior, recent);
  const values = traffic.map(({ w }) => valuesOn(posterior, w));
  const samples = samplesOf(posterior, Random.seeded(1).split("tradeoff"), SAMPLES);
  const { models } = posterior.pool;
  const chosen = current === null ? null : choicesAt(current, traffic, values);
  const advantage =
    current === null ? null : advantageOf(chosen!, current, traffic, values, samples);
  return {
    object: "tradeoff",
    router,
    current,
    posterior_version: posterior.version,
    recent_queries: traffic.length,
    advantage: advantage && { ...advantage, over: models[advantage.over]! },
    points: GRID.map((tradeoff) => pointAt(tradeoff, models, traffic, values, samples)),
    singles: singlesOf(chosen, models, traffic, samples),
  };
}

/** Recent queries that the permitted models can answer, without their other candidates. */
function trafficAmong(
  permitted: readonly string[] | undefined,
  posterior: PosteriorView,
  recent: readonly RecentQuery[],
): TrafficQuery[] {
  const traffic = trafficOf(posterior, recent);
  if (!permitted) return traffic;
  const { models } = posterior.pool;
  return traffic.flatMap((query) => {
    const candidates = query.candidates.filter((k) => permitted.includes(models[k]!));
    return candidates.length > 0 ? [{ ...query, candidates }] : [];
  });
}

/** Each model that could answer all recent queries alone. */
function singlesOf(
  chosen: Choices | null,
  models: readonly string[],
  traffic: readonly TrafficQuery[],
  samples: readonly PosteriorSample[],
): Tradeoff["singles"] {
  const routed = chosen && meanUtilityOf(chosen, traffic);
  return capableModels(traffic).map((k) => {
    const always = traffic.map(() => k);
    const alone = meanUtilityOf(always, traffic);
    return {
      model: models[k]!,
      cost: costOf(always, traffic),
      wins: winsOf(alone, samples),
      // Both utilities are from the same sample, so uncertainty about the model itself cancels.
      beaten: routed && winsOf((sample) => routed(sample) - alone(sample), samples),
    };
  });
}

/** Share of wins that follows from a difference of utilities in each sample; a tie is half a win. */
function winsOf(
  difference: (sample: PosteriorSample, i: number) => number,
  samples: readonly PosteriorSample[],
): Band | null {
  if (samples.length === 0) return null;
  return bandOf(samples.map((sample, i) => (1 + sample.margin * difference(sample, i)) / 2));
}

/** Mean cost of the choices in US dollars; null if a price is unknown. */
function costOf(chosen: Choices, traffic: readonly TrafficQuery[]): number | null {
  const costs = chosen.map((k, i) => traffic[i]!.costs?.[k]);
  if (costs.length === 0 || costs.some((cost) => cost === undefined)) return null;
  return costs.reduce<number>((sum, cost) => sum + cost! / costs.length, 0);
}

/** Models that are candidates of all queries. */
function capableModels(traffic: readonly TrafficQuery[]): readonly number[] {
  const [first] = traffic;
  if (!first) return [];
  return first.candidates.filter((k) => traffic.every(({ candidates }) => candidates.includes(k)));
}

const GRID = Array.from({ length: 21 }, (_, i) => i / 2);
const SAMPLES = 400;

/** Estimated utility of each model for a query. */
export function valuesOn(posterior: PosteriorView, w: Float64Array): Float64Array {
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
  const draws = traffic.length > 0 ? samples.map(meanUtilityOf(chosen, traffic)) : [];
  const quality = draws.length > 0 ? { ...bandOf(draws), mean } : { mean };
  return {
    tradeoff,
    cost_weight: costWeightOf(tradeoff),
    lambda: costWeightOf(tradeoff),
    shares,
    quality,
    wins: draws.length > 0 ? winsOf((_, i) => draws[i]!, samples) : null,
    cost: isPriced ? cost : null,
  };
}

/** Index in the pool of the model that would answer each query. */
export type Choices = readonly number[];

/** Chooses for each query the model with the highest net value at this trade-off. */
export function choicesAt(
  tradeoff: number,
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
): Choices {
  const weight = costWeightOf(tradeoff);
  return traffic.map((query, i) => {
    const highest = highestOf(query);
    let best = -1;
    let most = -Infinity;
    for (const k of query.candidates) {
      const net = values[i]![k]! - weight * priceOf(query, k, highest);
      if (net > most) [best, most] = [k, net];
    }
    return best;
  });
}

/** Mean price, relative to that of the most expensive candidate; 0 if prices are unknown. */
export function meanPrice(choices: Choices, traffic: readonly TrafficQuery[]): number {
  const prices = traffic.map((query, i) => priceOf(query, choices[i]!, highestOf(query)));
  return prices.reduce((sum, price) => sum + price / prices.length, 0);
}

function highestOf({ candidates, costs }: TrafficQuery): number {
  let highest = 0;
  if (costs) for (const k of candidates) highest = Math.max(highest, costs[k]!);
  return highest;
}

function priceOf({ costs }: TrafficQuery, k: number, highest: number): number {
  return highest > 0 ? costs![k]! / highest : 0;
}

/**
 * Mean utility of the choices in a sample of the posterior, relative to the pool's mean. The
 * utilities are linear in the membership, so with n queries
 *
 *   mean_i f_c(i)(w_i) = sum_k f_k(W_k),  W_k = sum of w_i / n over the queries with c(i) = k,
 *
 * and a sample is evaluated once per model rather than once per query.
 */
export function meanUtilityOf(
  choices: Choices,
  traffic: readonly TrafficQuery[],
): (sample: PosteriorSample) => number {
  const M = traffic[0]?.w.length ?? 0;
  const parts = new Map<number, Float64Array>();
  const all = new Float64Array(M);
  traffic.forEach(({ w }, i) => {
    const part = parts.get(choices[i]!) ?? new Float64Array(M);
    parts.set(choices[i]!, part);
    axpy(1 / traffic.length, w, part);
    axpy(1 / traffic.length, w, all);
  });
  let f: Float64Array | undefined;
  return ({ utilities }) => {
    f = utilities(all, f);
    let sum = 0;
    for (let k = 0; k < f.length; k++) sum -= f[k]! / f.length;
    for (const [k, part] of parts) sum += utilities(part, f)[k]!;
    return sum;
  };
}

/** Net value of routing compared with one model for all queries: quality minus the price of the cost. */
interface Advantage extends Band {
  /** Index of the best single model. */
  readonly over: number;
  /** Probability that routing is at least as good. */
  readonly sure: number;
}

/**
 * Returns the advantage of routing over the best single model, or null if there are no
 * queries, no samples, or no model that can answer all queries.
 */
export function advantageOf(
  choices: Choices,
  tradeoff: number,
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
  samples: readonly PosteriorSample[],
): Advantage | null {
  const weight = costWeightOf(tradeoff);
  const netOf = (chosen: Choices) => {
    const mean = chosen.reduce((sum, k, i) => sum + values[i]![k]! / chosen.length, 0);
    return mean - weight * meanPrice(chosen, traffic);
  };
  const capable = capableModels(traffic);
  if (capable.length === 0 || samples.length === 0) return null;
  const always = (k: number): Choices => traffic.map(() => k);
  const over = capable.reduce((a, b) => (netOf(always(b)) > netOf(always(a)) ? b : a));
  const saved = weight * (meanPrice(always(over), traffic) - meanPrice(choices, traffic));
  const [routed, fixed] = [meanUtilityOf(choices, traffic), meanUtilityOf(always(over), traffic)];
  const gains = samples.map((sample) => routed(sample) - fixed(sample) + saved);
  return {
    ...bandOf(gains),
    mean: netOf(choices) - netOf(always(over)),
    over,
    // Allows for rounding of the sums.
    sure: gains.filter((gain) => gain > -1e-9).length / gains.length,
  };
}
