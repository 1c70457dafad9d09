import type { PosteriorSample } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { Belief } from "./traffic.ts";

/** What is believed of a model on a mixture of categories, relative to the pool's mean. */
export interface Standing {
  readonly model: string;
  readonly value: number;
  /** A 95% interval; null where the policy has no opinion about its own uncertainty. */
  readonly lo: number | null;
  readonly hi: number | null;
  readonly sd: number | null;
  /** Probability that it is the best of all. */
  readonly best: number | null;
}

/** The best first. Without worlds nothing is said of how likely that is. */
export function standings(
  belief: Belief,
  membership: Float64Array,
  worlds: readonly PosteriorSample[] = [],
): Standing[] {
  const { pool, router } = belief;
  const estimate = router.policy.estimate?.(membership);
  const best = worlds.length > 0 && bestShares(worlds, membership);
  const values = estimate?.mean ?? plainValues(belief, membership);
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
 * The fewest models of which one is the best with 95% probability, the likeliest
 * first; the first one alone where nothing is said of how likely that is.
 */
export function mayBeBest(standings: readonly Standing[]): string[] {
  const likely = standings.toSorted((a, b) => (b.best ?? 0) - (a.best ?? 0));
  let sum = 0;
  const enough = likely.findIndex(({ best }) => {
    sum += best ?? 1;
    return sum > 0.95 - 1e-9; // shares of worlds, added up
  });
  return likely.slice(0, enough + 1).map(({ model }) => model);
}

function bestShares(worlds: readonly PosteriorSample[], membership: Float64Array): number[] {
  const all = worlds.map((world) => world.utilities(membership));
  const shares = Array.from(all[0]!, () => 0);
  for (const utilities of all) {
    shares[utilities.indexOf(Math.max(...utilities))]! += 1 / worlds.length;
  }
  return shares;
}

/** Of a policy that has values but no uncertainty: those at the centroids, mixed. */
export function plainValues(belief: Belief, membership: Float64Array): Float64Array {
  const { pool, router } = belief;
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
