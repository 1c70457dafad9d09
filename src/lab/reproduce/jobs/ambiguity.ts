import type { Query, StoredVerdict } from "../../data/dataset.ts";

/**
 * The share of the compared pairs of models whose verdicts do not all name one winner.
 * If both orders of a pair were judged, these are pairs with contradicting verdicts or
 * ties; otherwise only pairs with ties. It replaces the score that the paper asks a
 * language model for.
 */
export function ambiguity({ comparisons = [] }: Pick<Query, "comparisons">): number {
  const winners = new Map<string, Set<number | undefined>>();
  for (const verdict of comparisons) {
    const pair = [verdict.a, verdict.b].sort((a, b) => a - b).join();
    winners.set(pair, (winners.get(pair) ?? new Set()).add(winnerOf(verdict)));
  }
  const open = [...winners.values()].filter((named) => named.size > 1 || named.has(undefined));
  return winners.size === 0 ? 0 : open.length / winners.size;
}

function winnerOf({ a, b, outcome }: StoredVerdict): number | undefined {
  return outcome === "a" ? a : outcome === "b" ? b : undefined;
}

/** Drops the given share of the queries, the most ambiguous first. Of equally ambiguous queries, later ones are dropped first. */
export function dropAmbiguous(queries: readonly Query[], share: number): Query[] {
  const scores = queries.map(ambiguity);
  const order = [...queries.keys()].sort((i, j) => scores[j]! - scores[i]! || j - i);
  const dropped = new Set(order.slice(0, Math.floor(share * queries.length)));
  return queries.filter((_, i) => !dropped.has(i));
}
