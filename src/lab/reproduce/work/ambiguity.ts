import type { Query, Verdict } from "../../data/dataset.ts";

/**
 * How little the verdicts on a query say: the share of the compared pairs of
 * models whose verdicts do not all name one winner. Where both orders of a pair
 * were judged that is reversed verdicts that disagree, and ties; where one was,
 * ties alone. It stands in for the score that the paper asks a language model for.
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

function winnerOf({ a, b, outcome }: Verdict): number | undefined {
  return outcome === "a" ? a : outcome === "b" ? b : undefined;
}

/** The queries without the given share of them, the most ambiguous; of equals the later ones go. */
export function dropAmbiguous(queries: readonly Query[], share: number): Query[] {
  const scores = queries.map(ambiguity);
  const order = [...queries.keys()].sort((i, j) => scores[j]! - scores[i]! || j - i);
  const dropped = new Set(order.slice(0, Math.floor(share * queries.length)));
  return queries.filter((_, i) => !dropped.has(i));
}
