import type { Band } from "../../api/common.ts";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { lambdaOf } from "../routing/tradeoff.ts";
import { type Choices, meanPrice, meanUtilityOf } from "./choices.ts";
import { bandOf } from "./performance.ts";
import type { TrafficQuery } from "./traffic.ts";

/** Net value of routing compared with one model for all queries: quality minus the price of the cost. */
interface Advantage extends Band {
  /** Index of the best single model. */
  readonly over: number;
  /** Probability that routing is at least as good. */
  readonly sure: number;
}

/** Null if there are no queries, no samples, or no model that can answer all queries. */
export function advantageOf(
  choices: Choices,
  tradeoff: number,
  traffic: readonly TrafficQuery[],
  values: readonly Float64Array[],
  samples: readonly PosteriorSample[],
): Advantage | null {
  const lambda = lambdaOf(tradeoff);
  const netOf = (chosen: Choices) => {
    const mean = chosen.reduce((sum, k, i) => sum + values[i]![k]! / chosen.length, 0);
    return mean - lambda * meanPrice(chosen, traffic);
  };
  const capable = traffic[0]?.candidates.filter((k) =>
    traffic.every(({ candidates }) => candidates.includes(k)),
  );
  if (!capable || capable.length === 0 || samples.length === 0) return null;
  const always = (k: number): Choices => traffic.map(() => k);
  const over = capable.reduce((a, b) => (netOf(always(b)) > netOf(always(a)) ? b : a));
  const saved = lambda * (meanPrice(always(over), traffic) - meanPrice(choices, traffic));
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
