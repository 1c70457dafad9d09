import type { Outcome } from "../../core/bandit/policy.ts";
import type { ScoreTable, WeightingSettings } from "../../core/calibrate/models.ts";

/** What a simulation runs on, whatever file it came from. Models and categories are indices. */
export interface Dataset {
  readonly models: readonly string[];
  /** Empty where the data names none. */
  readonly categories: readonly string[];
  readonly queries: readonly Query[];
  /** Of the scores csv: K rows of M numbers. */
  readonly scores?: {
    readonly perf: readonly Float64Array[];
    readonly cost: readonly Float64Array[];
  };
  readonly calibration?: Calibration;
}

/** What a calibration bundle has fixed in advance: the same in every run. */
export interface Calibration extends ScoreTable {
  /** The bundle's, which need not be the data's. */
  readonly categories: readonly string[];
  /** xi_m, each of so many offline queries. */
  readonly centroids: readonly Float64Array[];
  readonly sizes: readonly number[];
  /** a_k of the data's models, and how scores made them; absent: in another way, so they stand as they are. */
  readonly embeddings: readonly Float64Array[];
  readonly weighting?: WeightingSettings;
  /** The data's queries that the bundle was made of, by its categories: never streamed. */
  readonly offline: readonly (readonly number[])[];
}

export interface Query {
  readonly id: string;
  readonly text: string;
  /** -1 where the data names none. */
  readonly category: number;
  /** The query's own scores of the K models; absent where the category's count. */
  readonly scores?: Float64Array;
  readonly costs?: Float64Array;
  /** Stored verdicts, which a simulated voter repeats. */
  readonly comparisons?: readonly Verdict[];
}

export interface Verdict {
  readonly a: number;
  readonly b: number;
  readonly outcome: Outcome;
}
