/**
 * Standard errors of mean scores, K rows of M numbers. `outcomes[m]` are the queries of
 * category m, each with the scores of the K models.
 *
 * All models answer the same queries, and only differences between models matter, so the
 * difficulty of a query is no error: a residual is a score minus the mean of its model in the
 * category, minus the mean of these differences over the models. A category has few queries, so its variance
 * is averaged with the variance in all categories, which counts as ASSUMED residuals.
 */
export function scoreErrors(outcomes: readonly (readonly Float64Array[])[]): Float64Array[] {
  const K = outcomes.flat()[0]!.length;
  const squares = outcomes.map(sumOfSquares);
  const freedom = outcomes.map((queries) => Math.max(0, queries.length - 1) * (K - 1));
  const free = total(freedom);
  const common = free > 0 ? total(squares) / free : LARGEST_VARIANCE;
  const errors = Float64Array.from(outcomes, (queries, m) => {
    const variance = (squares[m]! + ASSUMED * common) / (freedom[m]! + ASSUMED);
    return queries.length > 0 ? Math.sqrt(variance / queries.length) : Number.NaN;
  });
  return Array.from({ length: K }, () => errors.slice());
}

/** Number of residuals, of all categories, that are added to those of a category. */
const ASSUMED = 20;
/** The largest variance of a score within 0..1, for data in which every category has one query. */
const LARGEST_VARIANCE = 0.25;

function sumOfSquares(queries: readonly Float64Array[]): number {
  const K = queries[0]?.length ?? 0;
  const means = Float64Array.from(
    { length: K },
    (_, k) => total(queries.map((row) => row[k]!)) / queries.length,
  );
  let sum = 0;
  for (const row of queries) {
    const residuals = row.map((score, k) => score - means[k]!);
    const difficulty = total(residuals) / K;
    for (const residual of residuals) sum += (residual - difficulty) ** 2;
  }
  return sum;
}

function total(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}
