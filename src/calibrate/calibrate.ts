import type { ScoreTable } from "./models.ts";

/** The offline queries, and what is known of the models on them. */
export interface OfflineQueries extends ScoreTable {
  readonly ids: readonly string[];
  readonly texts: readonly string[];
  /** Of each query, an index into `categoryNames`. */
  readonly categories: readonly number[];
  readonly categoryNames: readonly string[];
  readonly models: readonly string[];
  /** The best models on each query. */
  readonly best: readonly (readonly number[])[];
}
