import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { axpy } from "../../core/linalg/linalg.ts";
import { lambdaOf } from "../routing/tradeoff.ts";
import type { TrafficQuery } from "./traffic.ts";

/** Index in the pool of the model that would answer each query. */
export type Choices = readonly number[];

/** Chooses for each query the model with the highest net value at this trade-off. */
export function choicesAt(
  tradeoff: number,
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
): Choices {
  const lambda = lambdaOf(tradeoff);
  return traffic.map((query, i) => {
    const highest = highestOf(query);
    let best = -1;
    let most = -Infinity;
    for (const k of query.candidates) {
      const net = values[i]![k]! - lambda * priceOf(query, k, highest);
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
