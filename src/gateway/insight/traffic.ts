import { reportOf } from "../../core/bandit/policies/joust-report.ts";
import type { PosteriorSample } from "../../core/bandit/policy.ts";
import type { Random } from "../../core/random/random.ts";
import type { RouterView } from "../routing/choose.ts";
import type { RecentQuery } from "../routing/recent.ts";

/** A posterior with its pool: of a router that is served, or of a log that was folded again. */
export type PosteriorView = Pick<
  RouterView,
  "pool" | "router" | "version" | "membership" | "encoder"
> &
  Partial<Pick<RouterView, "models">>;

/** A recent query with models as indices in the current pool. */
export interface TrafficQuery {
  /** Membership of the categories. */
  readonly w: Float64Array;
  readonly candidates: readonly number[];
  /** Expected cost of each model in US dollars; NaN for models that were not candidates. */
  readonly costs: Float64Array | undefined;
  /** The one or two models that answered. */
  readonly served: readonly number[];
}

/**
 * Converts recent queries. Queries of models that have left the pool are left out, and so are those of another encoder,
 * whose embeddings may have the same dimension but mean something else. Disabled models are not candidates.
 */
export function trafficOf(
  posterior: PosteriorView,
  recent: readonly RecentQuery[],
): TrafficQuery[] {
  const { pool, membership, models, encoder } = posterior;
  const indices = new Map(pool.models.map((name, k) => [name, k]));
  return recent.flatMap(({ encoder: own, x, candidates, costs, pair }) => {
    const served = [...new Set(pair)].map((name) => indices.get(name) ?? -1);
    const known = candidates.map((name) => indices.get(name) ?? -1);
    if (own !== encoder || served.includes(-1)) return [];
    const all = costs && new Float64Array(pool.models.length).fill(Number.NaN);
    known.forEach((k, i) => {
      if (k >= 0) all?.fill(costs![i]!, k, k + 1);
    });
    const able = known.filter((k) => k >= 0 && !models?.[k]?.spec.isDisabled);
    return able.length > 0 ? [{ w: membership(x), candidates: able, costs: all, served }] : [];
  });
}

/**
 * Samples of the posterior for numbers about queries, or none if the policy cannot draw them.
 * Numbers about several models or settings use the same samples, because drawing takes longer
 * than evaluating.
 */
export function samplesOf(
  { router: { policy } }: PosteriorView,
  random: Random,
  count: number,
): PosteriorSample[] {
  const report = reportOf(policy);
  if (!report) return [];
  return Array.from({ length: count }, () => report.samplePosterior(random));
}
