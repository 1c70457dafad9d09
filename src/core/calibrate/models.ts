import { fillUnknown } from "../bandit/features.ts";
import {
  categoryWeights,
  labelEmbeddings,
  modelEmbeddings,
  type ScoreRows,
  type Weighting,
  type WeightingOptions,
} from "../bandit/weighting.ts";

/** How scores become model embeddings: one of the paper's weightings and its parameters. */
export interface WeightingSettings
  extends Pick<WeightingOptions, "tau" | "lambda" | "temperature"> {
  readonly weighting: Weighting;
}

/** What is told of the models: K rows of M numbers each. */
export interface ScoreTable {
  /** NaN where unknown. */
  readonly scores: ScoreRows;
  readonly costs?: ScoreRows | undefined;
}

/** An embedding, and the models that are best on its query (or queries). */
export interface Labelled {
  readonly x: Float64Array;
  readonly best: readonly number[];
  /** How many queries it stands for; 1 unless said. */
  readonly weight?: number;
}

/**
 * a_k by eqs. 3-5 from scores and category embeddings, or by eq. 6 from the
 * queries on which k is best.
 */
export function weighModels(
  { weighting, ...options }: WeightingSettings,
  { scores, costs }: ScoreTable,
  xi: readonly Float64Array[],
  labelled: readonly Labelled[],
): Float64Array[] {
  if (weighting === "labels") return labelEmbeddings(scores.length, labelled);
  return modelEmbeddings(categoryWeights(weighting, fillUnknown(scores), costs, options), xi);
}

/** The models with the largest score; several where it is shared. */
export function bestModels(scores: Float64Array): number[] {
  const best = Math.max(...scores);
  return [...scores.keys()].filter((k) => scores[k] === best);
}
