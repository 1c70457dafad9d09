/**
 * Proposition 1 by Monte Carlo: eq. 6's a_k estimates sum_m f_km / (sum_j f_kj) E[Q_m]
 * without bias if every category has n queries. As in the proof, f_km n of a category's
 * queries have label k. With n_m queries instead, the estimate is biased towards large
 * categories, and weights 1/n_m remove the bias.
 */
import { labelEmbeddings } from "../../../core/bandit/weighting.ts";
import { Random } from "../../../core/random/random.ts";
import { mean } from "../../../core/statistics.ts";
import type { Cell, Part } from "../../reproduce/verdict.ts";

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
/** Number of runs, and of repeats per run. The error of a run is the mean over its repeats. */
const [RUNS, REPEATS] = [20, 20];
const EQUAL = [20, 20, 20];
const UNEQUAL = [10, 20, 60];

/** An interval shows the absence of bias if it contains 0 and is short: a tenth of a query's spread. */
export function propositionOne(): Part {
  const cells = errors(EQUAL, false);
  return { unit: "mean error", rule: "equivalence", margin: SD / 10, cells };
}

export function biasText(): string {
  const size = (cells: readonly Cell[]) =>
    Math.max(...cells.map(({ runs }) => Math.abs(mean(runs)))).toFixed(3);
  const [equal, unequal, corrected] = [
    errors(EQUAL, false),
    errors(UNEQUAL, false),
    errors(UNEQUAL, true),
  ].map(size);
  return `largest mean error ${equal} at equal sizes, ${unequal} at sizes ${UNEQUAL.join(", ")}, ${corrected} there with weights 1/n_m`;
}

/** The error of each coordinate of each a_k. */
function errors(sizes: readonly number[], weighted: boolean): Cell[] {
  const samples = Array.from({ length: RUNS * REPEATS }, (_, i) =>
    estimate(sizes, weighted, Random.seeded(1).split(i)),
  );
  return SHARES.flatMap((_, k) =>
    MEANS[0]!.map((_, d) => {
      const own = samples.map((a) => a[k]![d]! - target(k)[d]!);
      const runs = Array.from({ length: RUNS }, (_, r) =>
        mean(own.slice(r * REPEATS, (r + 1) * REPEATS)),
      );
      return { label: `coordinate ${d + 1} of a_${k + 1}`, runs };
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
