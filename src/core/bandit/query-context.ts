import { dot } from "../linalg/linalg.ts";
import { categoryMembership, fillUnknown } from "./features.ts";
import type { Pool } from "./policy.ts";

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
