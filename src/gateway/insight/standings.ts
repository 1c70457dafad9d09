import type { Standing } from "../../api/stats.ts";
import { reportOf } from "../../core/bandit/policies/joust-report.ts";
import type { Estimate, StandingsSample } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { PosteriorView } from "./traffic.ts";

/** Quality of the models: overall, and in each category, the best first. */
export interface Leaderboard {
  readonly overall: Standing[];
  readonly categories: { category: string; share: number; models: Standing[] }[];
}

/**
 * The leaderboard of a posterior. It depends on nothing else, so all nodes show the same one: the
 * overall standings are those on the mix of categories that was voted on recently.
 */
export function leaderboardOf(posterior: PosteriorView, random: Random): Leaderboard {
  const { pool, router } = posterior;
  const M = pool.categories.length;
  const report = reportOf(router.policy);
  const mix = report?.mix ?? new Float64Array(M).fill(1 / M);
  const samples = report && Array.from({ length: SAMPLES }, () => report.sampleStandings(random));
  const drawn = (utilities: (sample: StandingsSample) => Float64Array) => samples?.map(utilities);
  return {
    overall: standings(
      posterior,
      mix,
      report?.overall(),
      drawn((sample) => sample.overall()),
    ),
    categories: pool.categories.map((category, m) => {
      const only = Float64Array.from({ length: M }, (_, other) => Number(other === m));
      const own = drawn((sample) => sample.onCategory(m));
      const models = standings(posterior, only, report?.onCategory(m), own);
      return { category, share: mix[m]!, models };
    }),
  };
}

/** Number of draws for the probability of being the best, whose error is then at most 0.016. */
const SAMPLES = 1000;

/** Without an estimate, only the values of the policy are known. */
function standings(
  posterior: PosteriorView,
  membership: Float64Array,
  estimate: Estimate | undefined,
  samples: readonly Float64Array[] | undefined,
): Standing[] {
  const best = estimate && samples && bestShares(samples, estimate);
  const values = estimate?.mean ?? plainValues(posterior, membership);
  return posterior.pool.models
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

/**
 * Share of the samples in which each model is the best. Models with the same estimate are equally
 * likely, so they share the sum of their shares: before any vote, that is exactly 1/K.
 */
function bestShares(samples: readonly Float64Array[], { mean, sd }: Estimate): number[] {
  const shares = Array.from(mean, () => 0);
  for (const utilities of samples) {
    let best = 0;
    for (let k = 1; k < utilities.length; k++) if (utilities[k]! > utilities[best]!) best = k;
    shares[best]! += 1 / samples.length;
  }
  return shares.map((_, k) => {
    const equal = shares.filter(
      (_, j) => isClose(mean[j]!, mean[k]!, sd[k]!) && isClose(sd[j]!, sd[k]!, sd[k]!),
    );
    return equal.reduce((sum, share) => sum + share, 0) / equal.length;
  });
}

function isClose(a: number, b: number, unit: number): boolean {
  return Math.abs(a - b) <= 1e-9 * unit;
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
