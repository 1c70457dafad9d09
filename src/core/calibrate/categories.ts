import { nearestCategory } from "../bandit/categories.ts";
import { mean } from "../linalg/linalg.ts";

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

/** Returns the share of queries whose nearest xi is that of their own category. */
export function nearestCentroidAccuracy(
  xi: readonly Float64Array[],
  embeddings: readonly Float64Array[],
  categories: readonly number[],
): number {
  const nearest = nearestCategory({ centroids: xi });
  const right = embeddings.filter((x, i) => nearest(x) === categories[i]);
  return right.length / embeddings.length;
}
