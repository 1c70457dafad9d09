import { dot, normalized } from "../linalg/linalg.ts";
import { categoryMembership, fillUnknown } from "./features.ts";
import type { Pool } from "./policy.ts";

/**
 * What a policy without features of its own takes from the pool's categories:
 * which is nearest to a query, and what is told of every model there.
 */

/** Index of the nearest centroid; the first of equals, so that choosing and learning agree. */
export function nearestCategory(pool: Pick<Pool, "centroids">): (x: Float64Array) => number {
  const xi = pool.centroids.map(normalized);
  return (x) => {
    const cosines = xi.map((row) => dot(row, x));
    return cosines.indexOf(Math.max(...cosines));
  };
}

/** The told score of every model on a query, sum_m w_m(x) told_km; 0 where nothing is told. */
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
