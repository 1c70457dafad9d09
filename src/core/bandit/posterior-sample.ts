import type { BlockPosterior } from "./block-posterior.ts";
import type { PosteriorSample } from "./policy.ts";
import type { QueryContext } from "./query-context.ts";

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
