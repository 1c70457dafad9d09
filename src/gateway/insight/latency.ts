import type { Histogram } from "prom-client";

/** The 95th percentile of a histogram of seconds, in milliseconds, by the label `model`. */
export async function p95ByModel(
  histogram: Pick<Histogram, "get">,
): Promise<ReadonlyMap<string, number>> {
  const { values } = await histogram.get();
  const buckets = values.filter(({ labels }) => labels.le !== undefined);
  const byModel = Map.groupBy(buckets, ({ labels }) => String(labels.model));
  return new Map(
    [...byModel].flatMap(([model, all]): [string, number][] => {
      const counts = all.map(({ labels, value }) => ({ limit: limitOf(labels.le), count: value }));
      const seconds = quantileOf(counts, 0.95);
      return seconds === undefined ? [] : [[model, 1000 * seconds]];
    }),
  );
}

/**
 * A quantile of a histogram, linear between the limits of a bucket. `count` is the number of values up to
 * `limit`, and the last limit is infinite. A quantile in the last bucket is reported as the last finite
 * limit.
 */
export function quantileOf(
  buckets: readonly { readonly limit: number; readonly count: number }[],
  share: number,
): number | undefined {
  const sorted = buckets.toSorted((a, b) => a.limit - b.limit);
  const total = sorted.at(-1)?.count ?? 0;
  if (total === 0) return undefined;
  const wanted = share * total;
  let [lower, below] = [0, 0];
  for (const { limit, count } of sorted) {
    if (count >= wanted && limit !== Infinity) {
      return lower + ((limit - lower) * (wanted - below)) / (count - below);
    }
    if (limit !== Infinity) [lower, below] = [limit, count];
  }
  return lower;
}

function limitOf(le: string | number | undefined): number {
  return le === "+Inf" ? Infinity : Number(le);
}
