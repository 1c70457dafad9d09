import type { Random } from "../random/random.ts";
import type { BlockPosterior } from "./block-posterior.ts";
import { pick } from "./pair-rule.ts";
import type { Estimate, PosteriorSample, Report } from "./policy.ts";
import { sampledUtilities } from "./query-context.ts";

/** The posteriors that choose, and what is needed to read them. */
export interface BlockReportInput {
  readonly posteriors: readonly BlockPosterior[];
  readonly estimate: (membership: Float64Array) => Estimate;
  readonly toldByCategory: readonly Float64Array[];
  readonly unit: number;
  readonly margin: (scale: number) => number;
  readonly mix: Float64Array;
}

/**
 * Reports from the posteriors that choose, for pools that are too large for a fit and for
 * snapshots of older versions. Their intervals are too narrow after many votes, because they
 * have no covariances between models.
 */
export function blockReport(input: BlockReportInput): Report {
  const { mix, estimate, toldByCategory } = input;
  const M = toldByCategory.length;
  const only = (m: number) => Float64Array.from({ length: M }, (_, other) => Number(other === m));
  return {
    mix,
    overall: () => estimate(mix),
    onCategory: (m) => estimate(only(m)),
    sampleStandings: (random) => {
      const { utilities } = sampleBlocks(input, random);
      return { overall: () => utilities(mix), onCategory: (m) => utilities(only(m)) };
    },
    samplePosterior: (random) => sampleBlocks(input, random),
  };
}

function sampleBlocks(
  { posteriors, toldByCategory, unit, margin }: BlockReportInput,
  random: Random,
): PosteriorSample {
  const top = Math.max(...posteriors.map(({ evidence }) => evidence));
  const weights = posteriors.map(({ evidence }) => Math.exp(evidence - top));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const components = posteriors.map((posterior, i) => ({ posterior, weight: weights[i]! / total }));
  const { posterior } = pick(components, random.uniform());
  const { scale } = posterior.hypothesis;
  return {
    scale: scale / unit,
    margin: margin(scale) / unit,
    utilities: sampledUtilities(posterior.draw(random), toldByCategory, unit),
  };
}
