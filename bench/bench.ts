export interface BenchResult {
  /** Comparisons of numbers of the same run. */
  readonly ratios: Record<string, number>;
  /** Absolute numbers, which mean little on a shared machine. */
  readonly figures: Record<string, number>;
}

/** Amount of work and places of a benchmark. Each benchmark uses only the flags that it needs. */
export interface BenchFlags {
  readonly rounds?: number | undefined;
  readonly kills?: number | undefined;
  readonly minutes?: number | undefined;
  /** One seed of the simulation, or the number of seeds and the first one. */
  readonly seed?: number | undefined;
  readonly seeds?: number | undefined;
  readonly from?: number | undefined;
  /** Folder in which an interrupted run continues. */
  readonly folder?: string | undefined;
  /** Another checkout of Joust, which is measured in the same run. */
  readonly before?: string | undefined;
  /** The program of Bifrost. */
  readonly bifrost?: string | undefined;
}

export type Bench = (names: readonly string[], flags: BenchFlags) => Promise<BenchResult>;
