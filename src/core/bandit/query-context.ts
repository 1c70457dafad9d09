import { dot } from "../linalg/linalg.ts";
import { categoryMembership, fillUnknown } from "./features.ts";
import type { Pool } from "./policy.ts";

/** A query as a belief sees it: its membership w and the told scores t_k relative to the pool's mean. */
export interface QueryContext {
  readonly w: Float64Array;
  readonly told: Float64Array;
}

/** Told scores of a mixture of categories, relative to the pool's mean. */
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

/** Of a query; the one just seen is remembered, for it is chosen for and learnt from. */
export function contextOfQuery(
  pool: Pool,
  on: (membership: Float64Array) => QueryContext,
): (x: Float64Array) => QueryContext {
  const membership = categoryMembership(pool.centroids);
  let last: { readonly x: Float64Array; readonly context: QueryContext } | undefined;
  return (x) => {
    if (last?.x !== x) last = { x, context: on(membership(x)) };
    return last.context;
  };
}
