import type { Decision } from "../api/decision.ts";
import { percent } from "../format.ts";

/** A decision in one sentence: who, how likely to be preferred, at what price. */
export function inWords(decision: Decision): string {
  const { models, hidden, duel, win_probability: win, runner_up: runnerUp, mode } = decision;
  if (hidden !== undefined || !models) return "A duel: the names are shown after the vote.";
  const [a, b] = models as [string, string?];
  if (duel && b !== undefined) {
    const chance = win === undefined ? "" : `: ${a} was ${percent(win)} likely to be preferred`;
    return `A duel of ${a} and ${b}${chance}${price(decision, a, b)}.`;
  }
  if (mode !== "apply") return `${a}, as the configuration says (${mode}).`;
  if (win === undefined || runnerUp === undefined) return `${a}.`;
  return `${a}: ${percent(win)} likely to be preferred over ${runnerUp} here${price(decision, a, runnerUp)}.`;
}

/** ", at 4% of its price" */
function price({ scores = [] }: Decision, model: string, other: string): string {
  const costOf = (name: string) => scores.find((score) => score.model === name)?.cost;
  const [cost, rival] = [costOf(model), costOf(other)];
  if (cost === undefined || rival === undefined || rival === 0 || cost === rival) return "";
  const ratio = cost / rival;
  if (ratio < 1) return `, at ${percent(ratio)} of its price`;
  return `, at ${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)} times its price`;
}

/** What the votes on it say, in a few words. */
export function votesInWords({ votes, models }: Decision): string {
  return votes
    .map(({ outcome, rating, ranking }) => {
      if (outcome === "tie") return "tie";
      if (outcome === "both_bad") return "both bad";
      if (outcome !== undefined) return `${models?.[outcome === "a" ? 0 : 1] ?? outcome} preferred`;
      if (rating !== undefined) return rating > 0 ? "liked" : rating < 0 ? "disliked" : "so-so";
      return ranking ? `${ranking[0]} ranked first` : "";
    })
    .join(", ");
}

/** The category that it belongs to most. */
export function categoryIn({ categories }: Decision): string | undefined {
  return Object.entries(categories ?? {}).toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
