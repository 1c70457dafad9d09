import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { lambdaOf } from "../routing/tradeoff.ts";
import { type Choices, meanPrice, meanUtilityOf } from "./choices.ts";
import type { TrafficQuery } from "./traffic.ts";
import { type Band, bandOf } from "./worth.ts";

/** What routing is worth beside one model for all queries: quality, less what the price is worth. */
export interface Advantage extends Band {
  /** The place of the model that would be taken for all, as far as is known. */
  readonly over: number;
  /** Probability that routing is worth no less. */
  readonly sure: number;
}

/** Null where there is nothing to compare: no queries, no worlds, or no model that can answer them all. */
export function advantageOf(
  choices: Choices,
  tradeoff: number,
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
  worlds: readonly PosteriorSample[],
): Advantage | null {
  const lambda = lambdaOf(tradeoff);
  const netOf = (chosen: Choices) => {
    const mean = chosen.reduce((sum, k, i) => sum + values[i]![k]! / chosen.length, 0);
    return mean - lambda * meanPrice(chosen, traffic);
  };
  const able = traffic[0]?.candidates.filter((k) =>
    traffic.every(({ candidates }) => candidates.includes(k)),
  );
  if (!able || able.length === 0 || worlds.length === 0) return null;
  const always = (k: number): Choices => traffic.map(() => k);
  const over = able.reduce((a, b) => (netOf(always(b)) > netOf(always(a)) ? b : a));
  const saved = lambda * (meanPrice(always(over), traffic) - meanPrice(choices, traffic));
  const [routed, fixed] = [meanUtilityOf(choices, traffic), meanUtilityOf(always(over), traffic)];
  const gains = worlds.map((world) => routed(world) - fixed(world) + saved);
  return {
    ...bandOf(gains),
    mean: netOf(choices) - netOf(always(over)),
    over,
    // The order of a sum is no difference.
    sure: gains.filter((gain) => gain > -1e-9).length / gains.length,
  };
}
