import type { PosteriorSample } from "../../core/bandit/policy.ts";
import type { Random } from "../../core/random/random.ts";
import type { PosteriorView } from "./traffic.ts";

/**
 * Samples of the posterior, or none if the policy cannot draw them. Numbers about several
 * categories, models or settings use the same samples, because drawing takes longer than
 * evaluating.
 */
export function samplesOf(
  { router: { policy } }: PosteriorView,
  random: Random,
  count: number,
): PosteriorSample[] {
  if (!policy.samplePosterior) return [];
  return Array.from({ length: count }, () => policy.samplePosterior!(random));
}
