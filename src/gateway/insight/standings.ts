import type { Standing } from "../../api/stats.ts";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { PosteriorView } from "./traffic.ts";

/**
 * Quality of the models on a mixture of categories, the best first. Without samples, the
 * probability of being the best is null.
 */
export function standings(
  posterior: PosteriorView,
  membership: Float64Array,
  samples: readonly PosteriorSample[] = [],
): Standing[] {
  const { pool, router } = posterior;
  const estimate = router.policy.estimate?.(membership);
  const best = samples.length > 0 && bestShares(samples, membership);
  const values = estimate?.mean ?? plainValues(posterior, membership);
  return pool.models
    .map((model, k) => {
      const sd = estimate ? estimate.sd[k]! : null;
      const value = values[k]!;
      return {
        model,
        value,
        sd,
        lo: sd === null ? null : value - Z * sd,
        hi: sd === null ? null : value + Z * sd,
        best: best ? best[k]! : null,
      };
    })
    .toSorted((a, b) => b.value - a.value);
}

const Z = 1.96;

/**
 * The fewest models of which one is the best with 95% probability, the most probable first. Only
 * the first model if the probabilities are unknown.
 */
export function mayBeBest(standings: readonly Standing[]): string[] {
  const likely = standings.toSorted((a, b) => (b.best ?? 0) - (a.best ?? 0));
  let sum = 0;
  const enough = likely.findIndex(({ best }) => {
    sum += best ?? 1;
    return sum > 0.95 - 1e-9; // allows for rounding of the sum
  });
  return likely.slice(0, enough + 1).map(({ model }) => model);
}

function bestShares(samples: readonly PosteriorSample[], membership: Float64Array): number[] {
  const all = samples.map((sample) => sample.utilities(membership));
  const shares = Array.from(all[0]!, () => 0);
  for (const utilities of all) {
    shares[utilities.indexOf(Math.max(...utilities))]! += 1 / samples.length;
  }
  return shares;
}

/** Values of a policy without uncertainty: those at the centroids, weighted by the membership. */
export function plainValues(posterior: PosteriorView, membership: Float64Array): Float64Array {
  const { pool, router } = posterior;
  const candidates = pool.models.map((_, k) => k);
  const out = new Float64Array(pool.models.length);
  membership.forEach((share, m) => {
    const x = pool.centroids[m]!;
    const { values } = router.policy.choose({ x, candidates }, Random.seeded(0));
    values?.forEach((value, k) => {
      out[k]! += share * value;
    });
  });
  const middle = out.reduce((sum, value) => sum + value, 0) / out.length;
  return out.map((value) => value - middle);
}
