/** Id of the vote on a shadow comparison. It is not a vote on the decision itself, because nobody has seen both answers. */
export function shadowId(decision: string): string {
  return `${decision}${SUFFIX}`;
}

/** The decision of a shadow comparison, or undefined if the vote is another one. */
export function decisionOfShadow(vote: string): string | undefined {
  return vote.endsWith(SUFFIX) ? vote.slice(0, -SUFFIX.length) : undefined;
}

const SUFFIX = "-shadow";
