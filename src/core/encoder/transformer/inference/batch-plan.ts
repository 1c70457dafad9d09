/**
 * Splits texts into runs of the model. The texts of a run are padded to the longest
 * of them, so a run costs its padded tokens plus a constant: `overhead`, in tokens,
 * covers calls and the reading of every weight. A run has at most `most` padded
 * tokens, or a single text.
 *
 * Texts are sorted by length and split at the least total cost by dynamic
 * programming. The cost of the shortest e texts is the minimum, over the start s of
 * their last run, of cost(s) + overhead + (e - s) * length(e).
 */
export function planBatches(
  lengths: readonly number[],
  { overhead, most }: { readonly overhead: number; readonly most: number },
): number[][] {
  const order = lengths.map((_, k) => k).sort((a, b) => lengths[a]! - lengths[b]!);
  const cost = [0];
  const begin = [0];
  for (let e = 1; e <= order.length; e++) {
    const longest = lengths[order[e - 1]!]!;
    cost[e] = Infinity;
    for (let s = e - 1; s >= 0; s--) {
      const padded = (e - s) * longest;
      if (padded > most && s < e - 1) break;
      const total = cost[s]! + overhead + padded;
      if (total < cost[e]!) [cost[e], begin[e]] = [total, s];
    }
  }
  const batches: number[][] = [];
  for (let end = order.length; end > 0; end = begin[end]!) {
    batches.push(order.slice(begin[end], end));
  }
  return batches;
}
