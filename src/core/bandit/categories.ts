import { dot, normalized } from "../linalg/linalg.ts";
import { categoryMembership, fillUnknown } from "./features.ts";
import type { Pool } from "./policy.ts";

/** The nearest category of a query and its told scores, for policies without features of their own. */

/**
 * Returns a function that finds the nearest centroid. If several are equally near, it
 * takes the first, so that `choose` and `learn` agree.
 */
export function nearestCategory(pool: Pick<Pool, "centroids">): (x: Float64Array) => number {
  const xi = pool.centroids.map(normalized);
  return (x) => {
    const cosines = xi.map((row) => dot(row, x));
    return cosines.indexOf(Math.max(...cosines));
  };
}

/** Returns a function that computes the told score of every model on a query, sum_m w_m(x) told_km; 0 if no score is told. */
export function toldAt(pool: Pool): (x: Float64Array) => Float64Array {
  const K = pool.models.length;
  if (!pool.told) return () => new Float64Array(K);
  const told = fillUnknown(pool.told);
  const membership = categoryMembership(pool.centroids);
  return (x) => {
    const w = membership(x);
    return Float64Array.from(told, (row) => dot(w, row));
  };
}

/**
 * Reorders a K x K table of pairs for another list of models. `index` is the position
 * of each model in the table, or -1 for a new model, whose pairs are 0.
 */
export function alignPairs(table: Float64Array, index: readonly number[]): Float64Array {
  const K = index.length;
  const before = Math.sqrt(table.length);
  return Float64Array.from({ length: K * K }, (_, at) => {
    const a = index[Math.floor(at / K)]!;
    const b = index[at % K]!;
    return a < 0 || b < 0 ? 0 : table[a * before + b]!;
  });
}
