import type { StoredVerdict } from "./dataset.ts";

/**
 * Utilities from comparisons: wins + 0.5 ties (both_bad counts as a tie), divided by the
 * number of comparisons, then by the largest utility. A Condorcet winner, which has beaten
 * every other model compared on this query more often than it lost, is placed on top with a
 * bonus of half a win. The paper only adds 0.5 to its wins. That is the same if the winner is on
 * top without the bonus; if both orders of each pair were judged, it could remain second.
 * A model without a comparison gets NaN; see `fillMeans`.
 */
export function verdictScores(verdicts: readonly StoredVerdict[], K: number): Float64Array {
  const points = new Float64Array(K);
  const held = new Float64Array(K);
  const balance = new Map<number, number>(); // wins - losses of a against b, at a * K + b
  for (const { a, b, outcome } of verdicts) {
    const win = outcome === "a" ? 1 : outcome === "b" ? 0 : 0.5;
    points[a]! += win;
    points[b]! += 1 - win;
    held[a]!++;
    held[b]!++;
    balance.set(a * K + b, (balance.get(a * K + b) ?? 0) + 2 * win - 1);
    balance.set(b * K + a, (balance.get(b * K + a) ?? 0) + 1 - 2 * win);
  }
  const scores = points.map((value, k) => value / held[k]!); // 0 / 0 is the NaN
  const winner = condorcetWinner(held, balance);
  if (winner !== undefined) scores[winner] = largest(scores) + 0.5 / held[winner]!;
  const top = largest(scores);
  return scores.map((score) => score / top);
}

/** A model wins only if it was compared with all others: a pair without a verdict counts as not beaten. */
function condorcetWinner(
  held: Float64Array,
  balance: ReadonlyMap<number, number>,
): number | undefined {
  const K = held.length;
  const beats = (a: number, b: number) => (balance.get(a * K + b) ?? 0) > 0;
  const compared = [...held.keys()].filter((k) => held[k]! > 0);
  return compared.find((a) => compared.every((b) => a === b || beats(a, b)));
}

function largest(scores: Float64Array): number {
  return scores.reduce((top, score) => (score > top ? score : top), 0);
}

/**
 * Fills in the score of a model on a query on which it was not compared: the mean of its scores
 * on the other queries, because nothing else is known. Changes the rows in place.
 */
export function fillMeans(scores: readonly Float64Array[], K: number): void {
  for (let k = 0; k < K; k++) {
    let sum = 0;
    let count = 0;
    for (const row of scores) {
      if (Number.isNaN(row[k]!)) continue;
      sum += row[k]!;
      count++;
    }
    for (const row of scores) if (Number.isNaN(row[k]!)) row[k] = sum / count;
  }
}
