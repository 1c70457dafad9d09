import type { Policy } from "../../core/bandit/policy.ts";
import { axpy } from "../../core/linalg/linalg.ts";
import { costWeightOf } from "../routing/choose.ts";

/** A query of the traffic that a forecast assumes. */
export interface ForecastQuery {
  readonly x: Float64Array;
  /** Membership of the categories. */
  readonly w: Float64Array;
  readonly candidates: readonly number[];
  /** Expected cost of each model in US dollars, if prices are known. */
  readonly costs: Float64Array | undefined;
}

/** Queries of the same category, which get the same model. */
export interface TrafficGroup {
  /** Share of the traffic. */
  readonly share: number;
  /** Mean membership. */
  readonly w: Float64Array;
  /** Models that can answer all of the traffic. */
  readonly candidates: readonly number[];
  /** Mean price of each model, relative to the most expensive one. */
  readonly prices: Float64Array;
}

/**
 * Queries on which routing can be compared with a single model. Of the queries with a choice of models, these are the ones
 * that one model can answer: the model that can answer most of them.
 */
export function comparableQueries<Q extends Pick<ForecastQuery, "candidates">>(
  traffic: readonly Q[],
): Q[] {
  const open = traffic.filter(({ candidates }) => candidates.length > 1);
  const counts = new Map<number, number>();
  for (const k of open.flatMap(({ candidates }) => candidates)) {
    counts.set(k, (counts.get(k) ?? 0) + 1);
  }
  const able = [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
  return open.filter(({ candidates }) => able !== undefined && candidates.includes(able));
}

/** Groups traffic by the category that a query belongs to most. */
export function trafficGroups(traffic: readonly ForecastQuery[]): TrafficGroup[] {
  const groups = Map.groupBy(traffic, ({ w }) => w.indexOf(Math.max(...w)));
  const candidates = traffic[0]!.candidates.filter((k) =>
    traffic.every((query) => query.candidates.includes(k)),
  );
  const models = Math.max(...traffic.flatMap((query) => query.candidates)) + 1;
  return [...groups.values()].map((queries) => {
    const w = new Float64Array(queries[0]!.w.length);
    const prices = new Float64Array(models);
    for (const query of queries) {
      axpy(1 / queries.length, query.w, w);
      const { costs } = query;
      const highest = costs ? Math.max(...query.candidates.map((k) => costs[k]!)) : 0;
      if (highest === 0) continue;
      for (const k of candidates) prices[k]! += costs![k]! / highest / queries.length;
    }
    return { share: queries.length / traffic.length, w, candidates, prices };
  });
}

/** The value of routing compared with the best single model. */
export interface Payoff {
  /** Expected gain of net utility: quality less the weight of cost times the relative price. */
  readonly gain: number;
  readonly sd: number;
  /** Probability that the gain is positive; 0 if routing always chooses the same model. */
  readonly sure: number;
}

/**
 * The gain of choosing the best model of each group instead of the single model k* that is best
 * for all groups together,
 *
 *   G = sum_g share_g (u_{k(g)}(w_g) - u_{k*}(w_g)) + savings.
 *
 * With W_k the sum of share_g w_g over the groups that choose k, and utilities linear in the
 * membership, G = sum_k (u_k(W_k) - u_{k*}(W_k)), whose variance is taken as
 * sum_k var u_k(W_k) + var u_{k*}(sum_k W_k), as if the models were independent.
 */
export function payoffOf(
  policy: Policy,
  groups: readonly TrafficGroup[],
  tradeoff: number,
): Payoff {
  const weight = costWeightOf(tradeoff);
  const { candidates } = groups[0]!;
  const nets = groups.map(({ w, prices }) => {
    const { mean } = policy.estimate!(w);
    return mean.map((value, k) => value - weight * (prices[k] ?? 0));
  });
  const bestIn = (net: (k: number) => number) =>
    candidates.reduce((a, b) => (net(b) > net(a) ? b : a));
  const over = bestIn((k) => groups.reduce((sum, { share }, g) => sum + share * nets[g]![k]!, 0));
  let gain = 0;
  const parts = new Map<number, Float64Array>();
  const all = new Float64Array(groups[0]!.w.length);
  groups.forEach(({ share, w }, g) => {
    const chosen = bestIn((k) => nets[g]![k]!);
    if (chosen === over) return;
    gain += share * (nets[g]![chosen]! - nets[g]![over]!);
    const part = parts.get(chosen) ?? new Float64Array(w.length);
    parts.set(chosen, part);
    axpy(share, w, part);
    axpy(share, w, all);
  });
  if (parts.size === 0) return { gain: 0, sd: 0, sure: 0 };
  let variance = varianceAt(policy, all, over);
  for (const [k, part] of parts) variance += varianceAt(policy, part, k);
  const sd = Math.sqrt(variance);
  return { gain, sd, sure: normalCdf(gain / sd) };
}

/** Variance of the utility of model k at weights of the categories that need not sum to 1. */
function varianceAt(policy: Policy, weights: Float64Array, k: number): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const { sd } = policy.estimate!(weights.map((weight) => weight / total));
  return (total * sd[k]!) ** 2;
}

/** P(N(0, 1) < z) to 7.5e-8 (Abramowitz and Stegun 26.2.17). */
function normalCdf(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  const series =
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const upper = density * series;
  return z > 0 ? 1 - upper : upper;
}
