/**
 * Proposition 1 by Monte Carlo: eq. 6's a_k estimates sum_m f_km / (sum_j f_kj) E[Q_m]
 * without bias if every category has n queries. As in the proof, f_km n of a category's
 * queries have label k. With n_m queries instead, the estimate is biased towards large
 * categories, and weights 1/n_m remove the bias.
 */
import { labelEmbeddings } from "../../../core/bandit/weighting.ts";
import { Random } from "../../../core/random/random.ts";
import type { Finding } from "../../reproduce/verdict.ts";
import { meanInterval } from "../../statistics.ts";

/** f_km: share of label k among the queries of category m. */
const SHARES = [
  [0.6, 0.2, 0.1],
  [0.3, 0.5, 0.2],
  [0.1, 0.3, 0.7],
];
/** E[Q_m] */
const MEANS = [
  [1, 0, 0, 0.5],
  [0, 1, 0, -0.5],
  [0, 0, 1, 0],
];
const SD = 0.5;
const REPEATS = 400;
/** An interval shows the absence of bias if it contains 0 and is short. */
const MARGIN = SD / 10;
const EQUAL = [20, 20, 20];
const UNEQUAL = [10, 20, 60];

export function propositionOne(): Finding {
  const equal = errors(EQUAL, false);
  const unequal = errors(UNEQUAL, false);
  const corrected = errors(UNEQUAL, true);
  const fine = equal.filter(({ holds }) => holds).length;
  const size = (found: readonly { mean: number }[]) =>
    Math.max(...found.map(({ mean }) => Math.abs(mean))).toFixed(3);
  return {
    verdict: fine >= (2 / 3) * equal.length ? "holds" : "does not hold",
    evidence: `the interval holds 0 and stays within ${MARGIN} of it in ${fine} of ${equal.length} coordinates; largest mean error ${size(equal)} at equal sizes, ${size(unequal)} at sizes ${UNEQUAL.join(", ")}, ${size(corrected)} there with weights 1/n_m`,
    cells: [],
  };
}

/** The error of each coordinate of each a_k. */
function errors(sizes: readonly number[], weighted: boolean) {
  const samples = Array.from({ length: REPEATS }, (_, i) =>
    estimate(sizes, weighted, Random.seeded(1).split(i)),
  );
  return SHARES.flatMap((_, k) =>
    MEANS[0]!.map((_, d) => {
      const { mean, lo, hi } = meanInterval(samples.map((a) => a[k]![d]! - target(k)[d]!));
      return { mean, holds: lo <= 0 && 0 <= hi && Math.max(-lo, hi) < MARGIN };
    }),
  );
}

function target(k: number): number[] {
  const total = SHARES[k]!.reduce((sum, share) => sum + share, 0);
  return MEANS[0]!.map((_, d) =>
    MEANS.reduce((sum, mean, m) => sum + (SHARES[k]![m]! / total) * mean[d]!, 0),
  );
}

function estimate(sizes: readonly number[], weighted: boolean, random: Random): Float64Array[] {
  const queries = sizes.flatMap((n, m) =>
    SHARES.flatMap((shares, k) =>
      Array.from({ length: Math.round(shares[m]! * n) }, () => ({
        x: Float64Array.from(MEANS[m]!, (mean) => mean + SD * random.normal()),
        best: [k],
        ...(weighted && { weight: 1 / n }),
      })),
    ),
  );
  return labelEmbeddings(SHARES.length, queries);
}
