import { nearestCategory } from "../bandit/categories.ts";
import { fillUnknown } from "../bandit/features.ts";
import {
  categoryWeights,
  labelEmbeddings,
  modelEmbeddings,
  type ScoreRows,
  type Weighting,
  type WeightingOptions,
} from "../bandit/weighting.ts";
import { mean } from "../linalg/linalg.ts";

/** One of the paper's weightings, which turn scores into model embeddings, and its parameters. */
export interface WeightingSettings
  extends Pick<WeightingOptions, "tau" | "lambda" | "temperature"> {
  readonly weighting: Weighting;
}

/** Scores and costs of K models in M categories: K rows of M numbers. */
export interface ScoreTable {
  /** Scores; NaN for an unknown score. */
  readonly scores: ScoreRows;
  /** Standard errors of the scores, NaN for an unknown error; undefined if all are unknown. */
  readonly errors?: ScoreRows | undefined;
  readonly costs?: ScoreRows | undefined;
}

/** An embedding and the indices of the models that are best on its query or queries. */
export interface Labelled {
  readonly x: Float64Array;
  readonly best: readonly number[];
  /** Number of queries that it represents. Default: 1. */
  readonly weight?: number;
}

/**
 * Returns a_k: by eqs. 3-5 from scores and category embeddings, or by eq. 6 from
 * the queries on which model k is best.
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

/** Returns the indices of all models with the largest score. */
export function bestModels(scores: Float64Array): number[] {
  const best = Math.max(...scores);
  return [...scores.keys()].filter((k) => scores[k] === best);
}

/** Returns xi_m, the mean embedding of the offline queries of category m, for every m. */
export function categoryEmbeddings(
  embeddings: readonly Float64Array[],
  categories: readonly number[],
): Float64Array[] {
  const members: Float64Array[][] = [];
  categories.forEach((m, i) => {
    members[m] ??= [];
    members[m].push(embeddings[i]!);
  });
  return Array.from(members, (rows = []) => mean(rows));
}

/** Returns the share of queries whose nearest xi is the xi of their own category. */
export function nearestCentroidAccuracy(
  xi: readonly Float64Array[],
  embeddings: readonly Float64Array[],
  categories: readonly number[],
): number {
  const nearest = nearestCategory({ centroids: xi });
  const right = embeddings.filter((x, i) => nearest(x) === categories[i]);
  return right.length / embeddings.length;
}
