import type { Random } from "../random/random.ts";
import { kindEstimates } from "./kind-report.ts";
import { pick } from "./pair-rule.ts";
import type { Estimate, PosteriorSample, Report } from "./policy.ts";
import { sampledUtilities } from "./query-context.ts";
import type { ReportInput } from "./report-input.ts";

/**
 * Reports from the posteriors that choose, for pools that are too large for a fit and for
 * snapshots of older versions. Their intervals are too narrow after many votes, because they
 * have no covariances between models.
 */
export function blockReport(input: ReportInput, estimate: (w: Float64Array) => Estimate): Report {
  const { groups, toldByCategory } = input;
  const { mix } = groups;
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
    voterKinds: () => kindEstimates(input.kinds, (c, i) => coefficientOfMixture(input, c, i)),
  };
}

/** Mean and standard deviation of one coefficient of a kind, within and between the posteriors. */
function coefficientOfMixture(input: ReportInput, c: number, i: number) {
  const components = weightedPosteriors(input);
  let [mean, square] = [0, 0];
  for (const { posterior, weight } of components) {
    const { means, variances } = posterior.kinds!;
    mean += weight * means[c]![i]!;
    square += weight * (means[c]![i]! ** 2 + variances[c]![i]!);
  }
  return { mean, sd: Math.sqrt(Math.max(0, square - mean ** 2)) };
}

function sampleBlocks(input: ReportInput, random: Random): PosteriorSample {
  const { toldByCategory, unit, margin } = input;
  const { posterior } = pick(weightedPosteriors(input), random.uniform());
  const { scale } = posterior.hypothesis;
  return {
    scale: scale / unit,
    margin: margin(scale) / unit,
    utilities: sampledUtilities(posterior.draw(random), toldByCategory, unit),
  };
}

/** The posteriors with their weights, which are proportional to their evidence. */
function weightedPosteriors({ posteriors }: ReportInput) {
  const top = Math.max(...posteriors.map(({ evidence }) => evidence));
  const weights = posteriors.map(({ evidence }) => Math.exp(evidence - top));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return posteriors.map((posterior, i) => ({ posterior, weight: weights[i]! / total }));
}
