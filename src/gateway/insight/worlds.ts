import type { PosteriorSample } from "../../core/bandit/policy.ts";
import type { Random } from "../../core/random/random.ts";
import type { Belief } from "./traffic.ts";

/**
 * Ways that everything may be, drawn from what is believed; none where the policy
 * has no opinion. What is said of several categories, models or settings at once
 * is said of the same worlds: to draw them costs more than to look at them.
 */
export function worldsOf({ router }: Belief, random: Random, count: number): PosteriorSample[] {
  const { policy } = router;
  if (!policy.samplePosterior) return [];
  return Array.from({ length: count }, () => policy.samplePosterior!(random));
}
