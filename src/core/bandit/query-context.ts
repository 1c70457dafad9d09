import { dot } from "../linalg/linalg.ts";
import type { BlockPosterior } from "./block-posterior.ts";
import { categoryMembership, fillUnknown } from "./features.ts";
import type { Pool, PosteriorSample } from "./policy.ts";

/** The part of a query that posteriors use: its membership w, and the told scores t_k relative to the mean of the pool. */
export interface QueryContext {
  readonly w: Float64Array;
  readonly told: Float64Array;
}

/** Returns a function that computes the context of a membership. */
export function contextOfMembership(pool: Pool): (membership: Float64Array) => QueryContext {
  const told = pool.told && fillUnknown(pool.told);
  const K = pool.models.length;
  return (w) => {
    const scores = new Float64Array(K);
    if (told) {
      let middle = 0;
      for (let k = 0; k < K; k++) {
        scores[k] = dot(w, told[k]!);
        middle += scores[k]! / K;
      }
      for (let k = 0; k < K; k++) scores[k]! -= middle;
    }
    return { w, told: scores };
  };
}

/** Returns a function that computes the context of a query. It caches the last one, which `learn` often needs after `choose`. */
export function contextOfQuery(
  pool: Pool,
  ofMembership: (membership: Float64Array) => QueryContext,
): (x: Float64Array) => QueryContext {
  const membership = categoryMembership(pool.centroids);
  let last: { readonly x: Float64Array; readonly context: QueryContext } | undefined;
  return (x) => {
    if (last?.x !== x) last = { x, context: ofMembership(membership(x)) };
    return last.context;
  };
}

/** Returns the told scores of each category, relative to the mean of the pool. */
export function toldByCategory(
  categories: number,
  contextOfMembership: (membership: Float64Array) => QueryContext,
): Float64Array[] {
  return Array.from({ length: categories }, (_, m) => {
    const only = new Float64Array(categories);
    only[m] = 1;
    return contextOfMembership(only).told;
  });
}

/**
 * Returns the utilities that drawn coefficients imply, times `unit`. They are linear
 * in the membership, so one number per model and category determines them.
 */
export function sampledUtilities(
  { told, theta }: ReturnType<BlockPosterior["draw"]>,
  toldScores: readonly Float64Array[],
  unit: number,
): PosteriorSample["utilities"] {
  const [K, M] = [theta.length, toldScores.length];
  const cells = new Float64Array(K * M);
  theta.forEach((row, k) => {
    row.forEach((cell, m) => {
      cells[k * M + m] = unit * (cell + told * toldScores[m]![k]!);
    });
  });
  return (membership, out = new Float64Array(K)) => {
    for (let k = 0; k < K; k++) {
      let value = 0;
      for (let m = 0; m < M; m++) value += membership[m]! * cells[k * M + m]!;
      out[k] = value;
    }
    return out;
  };
}
