/** `result.json`: what `joust simulate` writes and `--json` prints. */
export interface Result {
  readonly schema: 1;
  readonly settings: Record<string, unknown>;
  readonly policies: Record<string, PolicyResult>;
}

export interface PolicyResult {
  /**
   * Cumulative regret at the last round: mean over runs, its 95% interval, and
   * each run's. The bounds are null where there is one run, which has no spread.
   */
  readonly regret: { mean: number; lo: number | null; hi: number | null; runs: number[] };
  /** The same of the scores alone: without --lambda it is `regret`, with it what quality was given up. */
  readonly regretPerf: { mean: number; lo: number | null; hi: number | null; runs: number[] };
  readonly curve: { t: number[]; mean: number[]; lo: (number | null)[]; hi: (number | null)[] };
  /** Mean score over rounds; a duel counts the mean of its two. */
  readonly scorePerQuery: number;
  /** Mean over rounds; a duel is charged both answers. Null where the data has no costs. */
  readonly costPerQuery: number | null;
  /** Share of rounds whose served model is a best one, half each in a duel. */
  readonly agreement: number;
  readonly decisionMicros: { p50: number; p99: number };
  readonly updateMicros: { p50: number; p99: number };
}
