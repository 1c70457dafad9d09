import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { axpy } from "../../core/linalg/linalg.ts";
import { lambdaOf } from "../routing/tradeoff.ts";
import type { TrafficQuery } from "./traffic.ts";

/** Who would answer the recent queries: places in the pool, one a query. */
export type Choices = readonly number[];

/** At a setting of the trade-off, by the value of each query and model: the most that is left after the price. */
export function choicesAt(
  tradeoff: number,
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
): Choices {
  const lambda = lambdaOf(tradeoff);
  return traffic.map((query, i) => {
    const dearest = dearestOf(query);
    let best = -1;
    let most = -Infinity;
    for (const k of query.candidates) {
      const net = values[i]![k]! - lambda * priceOf(query, k, dearest);
      if (net > most) [best, most] = [k, net];
    }
    return best;
  });
}

/** Price as a share of the dearest candidate's, a mean; 0 where prices are not known. */
export function meanPrice(choices: Choices, traffic: readonly TrafficQuery[]): number {
  const prices = traffic.map((query, i) => priceOf(query, choices[i]!, dearestOf(query)));
  return prices.reduce((sum, price) => sum + price / prices.length, 0);
}

function dearestOf({ candidates, costs }: TrafficQuery): number {
  let dearest = 0;
  if (costs) for (const k of candidates) dearest = Math.max(dearest, costs[k]!);
  return dearest;
}

function priceOf({ costs }: TrafficQuery, k: number, dearest: number): number {
  return dearest > 0 ? costs![k]! / dearest : 0;
}

/**
 * Mean utility of the choices in a world, relative to the pool's mean. A world's
 * utilities are linear in the membership, so with n queries
 *
 *   mean_i f_c(i)(w_i) = sum_k f_k(W_k),  W_k = sum of w_i / n over the queries with c(i) = k,
 *
 * and a world is asked once a model rather than once a query.
 */
export function meanUtilityOf(
  choices: Choices,
  traffic: readonly TrafficQuery[],
): (world: PosteriorSample) => number {
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
