import { axpy } from "../linalg/linalg.ts";

/** Categorical weighting (eqs. 3-6): model embeddings a_k as mixtures of the category embeddings xi_m. */

/** The weightings by the names of the paper, in its order. */
export const WEIGHTINGS = ["perf", "perf_cost", "excel_perf_cost", "excel_mask", "labels"] as const;
export type Weighting = (typeof WEIGHTINGS)[number];

/** A table of K models by M categories. */
export type ScoreRows = readonly Float64Array[];

export interface WeightingOptions {
  /** Number of models that excel in a category. */
  readonly tau: number;
  /** Price of cost in the score Perf - lambda * Cost. */
  readonly lambda: number;
  /** Temperature of the softmax; 1 in the paper. */
  readonly temperature: number;
  /** Whether rounded scores are ranked and equal ones share a rank, as in the printed table of the paper. */
  readonly denseRank: boolean;
}

export const WEIGHTING_DEFAULTS: WeightingOptions = {
  tau: 3,
  lambda: 0.05,
  temperature: 1,
  denseRank: false,
};

/** Returns the weight of each category in each model embedding (eqs. 3-5). */
export function categoryWeights(
  weighting: Exclude<Weighting, "labels">,
  perf: ScoreRows,
  cost: ScoreRows | undefined,
  options: Partial<WeightingOptions> = {},
): Float64Array[] {
  const settings = { ...WEIGHTING_DEFAULTS, ...options };
  const { temperature } = settings;
  if (weighting === "perf") return perf.map((row) => softmax(row, temperature));
  const scores = perfCost(perf, cost, settings.lambda);
  if (weighting === "perf_cost") return scores.map((row) => softmax(row, temperature));
  const mask = excelMask(scores, settings);
  if (weighting === "excel_mask") return mask.map((row) => row.map((one) => one / settings.tau));
  // top_tau of eq. 4: categories in which the model does not excel are zeros inside the softmax.
  return scores.map((row, k) =>
    softmax(
      row.map((score, m) => score * mask[k]![m]!),
      temperature,
    ),
  );
}

/** Returns a_k = sum_m w_km xi_m. */
export function modelEmbeddings(weights: ScoreRows, xi: readonly Float64Array[]): Float64Array[] {
  return weights.map((row) => {
    const a = new Float64Array(xi[0]?.length ?? 0);
    for (let m = 0; m < xi.length; m++) axpy(row[m]!, xi[m]!, a);
    return a;
  });
}

/**
 * Eq. 6, which needs no scores: a_k is the mean embedding of the offline queries whose
 * best model is k. If n models are best, the query counts 1/n for each; a model that
 * is never best gets the mean of all queries. The `weight` of a query corrects unequal
 * category sizes (1/n_m), without which Proposition 1 does not hold.
 */
export function labelEmbeddings(
  models: number,
  queries: readonly { x: Float64Array; best: readonly number[]; weight?: number }[],
): Float64Array[] {
  const all = queries.map(({ x, weight = 1 }) => ({ x, weight }));
  return Array.from({ length: models }, (_, k) => {
    const own = queries
      .filter(({ best }) => best.includes(k))
      .map(({ x, best, weight = 1 }) => ({ x, weight: weight / best.length }));
    return weightedMean(own.length > 0 ? own : all);
  });
}

function weightedMean(parts: readonly { x: Float64Array; weight: number }[]): Float64Array {
  const sum = new Float64Array(parts[0]?.x.length ?? 0);
  for (const { x, weight } of parts) axpy(weight, x, sum);
  const total = parts.reduce((weights, { weight }) => weights + weight, 0);
  return sum.map((value) => value / total);
}

/** Returns Perf - lambda * Cost; a missing cost is 0. */
export function perfCost(
  perf: ScoreRows,
  cost: ScoreRows | undefined,
  lambda: number,
): Float64Array[] {
  return perf.map((row, k) => row.map((score, m) => score - lambda * (cost?.[k]?.[m] ?? 0)));
}

/** Returns mask_tau of eq. 5: 1 where the score of the model is among the tau best of the category, else 0. */
export function excelMask(
  scores: ScoreRows,
  { tau, denseRank }: Pick<WeightingOptions, "tau" | "denseRank">,
): Float64Array[] {
  const categories = scores[0]?.length ?? 0;
  const threshold = Array.from({ length: categories }, (_, m) => {
    let column = scores.map((row) => (denseRank ? round3(row[m]!) : row[m]!));
    if (denseRank) column = [...new Set(column)];
    column.sort((p, q) => q - p);
    return column[Math.min(tau, column.length) - 1]!;
  });
  return scores.map((row) =>
    row.map((score, m) => ((denseRank ? round3(score) : score) >= threshold[m]! ? 1 : 0)),
  );
}

/** Rounds to three decimals, halves away from zero, as in the printed table of the paper (0.3985, -0.1305). */
export function round3(value: number): number {
  return (Math.sign(value) * Math.floor(Math.abs(value) * 1000 + 0.5 + 1e-9)) / 1000;
}

/** Returns softmax(row / temperature). */
export function softmax(row: Float64Array, temperature: number): Float64Array {
  let top = -Infinity;
  for (let m = 0; m < row.length; m++) top = Math.max(top, row[m]!);
  const out = new Float64Array(row.length);
  let total = 0;
  for (let m = 0; m < row.length; m++) {
    out[m] = Math.exp((row[m]! - top) / temperature);
    total += out[m]!;
  }
  for (let m = 0; m < row.length; m++) out[m]! /= total;
  return out;
}
