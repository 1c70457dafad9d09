import { nearestCategory } from "../bandit/categories.ts";

/** Queries of known categories. */
export interface LabelledQueries {
  readonly embeddings: readonly Float64Array[];
  /** Index of the category of each query. */
  readonly categories: readonly number[];
}

/**
 * Estimates confusion[n][m], the probability that a query that is nearest to category n belongs to
 * category m. If the category embeddings are means of these queries, each query is compared with
 * means that leave it out. Each row starts with one query that may belong to any category.
 */
export function categoryConfusion(
  xi: readonly Float64Array[],
  offline: LabelledQueries,
  heldOut: LabelledQueries = { embeddings: [], categories: [] },
): Float64Array[] {
  const M = xi.length;
  const counts = xi.map(() => new Float64Array(M).fill(1 / M));
  const sizes = new Float64Array(M);
  for (const m of offline.categories) sizes[m]!++;
  for (const [i, x] of offline.embeddings.entries()) {
    const own = offline.categories[i]!;
    const n = sizes[own]!;
    if (n < 2) continue;
    const without = xi[own]!.map((value, d) => (n * value - x[d]!) / (n - 1));
    const centroids = xi.map((row, m) => (m === own ? without : row));
    counts[nearestCategory({ centroids })(x)]![own]!++;
  }
  const nearest = nearestCategory({ centroids: xi });
  heldOut.embeddings.forEach((x, i) => void counts[nearest(x)]![heldOut.categories[i]!]!++);
  return counts.map((row) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    return row.map((count) => count / total);
  });
}
