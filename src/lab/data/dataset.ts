import type { Outcome } from "../../core/bandit/policy.ts";
import type { ScoreTable, WeightingSettings } from "../../core/calibrate/models.ts";
import type { Tabulated } from "../../core/input/scores.ts";

/** The data of a simulation, in any file format. Models and categories are indices. */
export interface Dataset {
  readonly models: readonly string[];
  /** Empty if the data has no categories. */
  readonly categories: readonly string[];
  readonly queries: readonly Query[];
  /** The scores csv: K rows of M numbers. */
  readonly scores?: Tabulated;
  readonly calibration?: Calibration;
}

/** The content of a calibration bundle, which is the same in every run. */
export interface Calibration extends ScoreTable {
  /** The categories of the bundle, which may differ from those of the data. */
  readonly categories: readonly string[];
  /** xi_m of each category, and the number of its offline queries. */
  readonly centroids: readonly Float64Array[];
  readonly sizes: readonly number[];
  /** a_k of the data's models, and the weighting that computed them, if they were computed from scores. */
  readonly embeddings: readonly Float64Array[];
  readonly weighting?: WeightingSettings;
  /** Queries of the data that the bundle was fitted on, by category of the bundle. They are never streamed. */
  readonly offline: readonly (readonly number[])[];
}

export interface Query {
  readonly id: string;
  readonly text: string;
  /** -1 if the data has no categories. */
  readonly category: number;
  /** Scores of the K models on this query. Without them, the scores of its category are used. */
  readonly scores?: Float64Array;
  readonly costs?: Float64Array;
  /** Stored verdicts. A simulated voter repeats them. */
  readonly comparisons?: readonly StoredVerdict[];
}

/** Outcome of a comparison of models `a` and `b` that the data contains. */
export interface StoredVerdict {
  readonly a: number;
  readonly b: number;
  readonly outcome: Outcome;
}
