import { isDeepStrictEqual } from "node:util";
import type { Hypothesis } from "../block-posterior.ts";

/** The state in snapshots, whose field names must not change. */
export interface JoustState {
  readonly categories: readonly string[];
  readonly votes: number;
  readonly ties: number;
  /** Pairs of a model and its number of duels. */
  readonly newcomers: readonly (readonly [number, number])[];
  readonly beliefs: readonly {
    readonly hypothesis: Hypothesis;
    readonly means: readonly Float64Array[];
    readonly covariances: readonly Float64Array[];
    readonly shared: Float64Array;
    readonly sharedVariance: Float64Array;
    readonly evidence: number;
  }[];
}

/** Whether two hypotheses assume the same, whatever their prior probabilities are, which differ between versions. */
export function isSame(a: Hypothesis, b: Hypothesis): boolean {
  return isDeepStrictEqual({ ...a, logPrior: 0 }, { ...b, logPrior: 0 });
}
