import type { Random } from "../../random/random.ts";
import { Random as Seeded } from "../../random/random.ts";
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

/** The best first. */
export function standings(belief: Belief, membership: Float64Array, random: Random): Standing[] {
  const { pool, router } = belief;
  const { policy } = router;
  const estimate = policy.estimate?.(membership);
  const best = policy.imagine && bestShares(belief, membership, random);
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
const WORLDS = 400;

function bestShares(belief: Belief, membership: Float64Array, random: Random): Float64Array {
  const shares = new Float64Array(belief.pool.models.length);
  for (let i = 0; i < WORLDS; i++) {
    const utilities = belief.router.policy.imagine!(random).utilities(membership);
    shares[utilities.indexOf(Math.max(...utilities))]! += 1 / WORLDS;
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
    const { values } = router.policy.choose({ x, candidates }, Seeded.seeded(0));
    values?.forEach((value, k) => {
      out[k]! += share * value;
    });
  });
  const middle = out.reduce((sum, value) => sum + value, 0) / out.length;
  return out.map((value) => value - middle);
}
