/** The content of `result.json`, which `joust simulate` writes and `--json` prints. */
export interface Result {
  readonly schema: 1;
  readonly settings: Record<string, unknown>;
  readonly policies: Record<string, PolicyResult>;
}

export interface PolicyResult {
  /**
   * Cumulative regret at the last round: mean over runs, its 95% interval, and the value of
   * each run. The bounds are null if there is only one run.
   */
  readonly regret: { mean: number; lo: number | null; hi: number | null; runs: number[] };
  /** Cumulative regret in scores, without the cost. Equal to `regret` without --lambda. */
  readonly regretPerf: { mean: number; lo: number | null; hi: number | null; runs: number[] };
  readonly curve: { t: number[]; mean: number[]; lo: (number | null)[]; hi: (number | null)[] };
  /** Mean over rounds; a duel counts the mean of its two scores. */
  readonly scorePerQuery: number;
  /** Mean over rounds; a duel counts both costs. Null if the data has no costs. */
  readonly costPerQuery: number | null;
  /** Share of rounds answered by a best model; each answer of a duel counts half. */
  readonly agreement: number;
  readonly decisionMicros: { p50: number; p99: number };
  readonly updateMicros: { p50: number; p99: number };
}
