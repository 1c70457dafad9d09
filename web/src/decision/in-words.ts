import type { Decision, DecisionAnswer } from "../../../src/client.ts";
import { percent } from "../text/format.ts";

/** A decision in one sentence: the model, the probability that it is preferred, and its price. */
export function inWords(decision: Decision): string {
  const { models, hidden, duel, win_probability: win, runner_up: runnerUp, mode } = decision;
  if (hidden !== undefined || !models)
    return "A duel. The names of the models are shown after the vote.";
  const [a, b] = models as [string, string?];
  if (duel && b !== undefined) {
    const chance = win === undefined ? "" : `: ${a} was ${percent(win)} likely to be preferred`;
    return `Duel of ${a} and ${b}${chance}${relativePrice(decision, a, b)}.`;
  }
  if (mode !== "apply") return `${a}, as set in the configuration (mode: ${mode}).`;
  if (win === undefined || runnerUp === undefined) return `${a}.`;
  return `${a}: ${percent(win)} likely to be preferred to ${runnerUp}${relativePrice(decision, a, runnerUp)}.`;
}

/** The price of a model relative to another, such as ", at 4% of the price"; empty if unknown or equal. */
function relativePrice({ scores = [] }: Decision, model: string, other: string): string {
  const costOf = (name: string) => scores.find((score) => score.model === name)?.cost;
  const [cost, otherCost] = [costOf(model), costOf(other)];
  if (cost === undefined || otherCost === undefined) return "";
  if (otherCost === 0 || cost === otherCost) return "";
  const ratio = cost / otherCost;
  if (ratio < 1) return `, at ${percent(ratio)} of the price`;
  return `, at ${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)} times the price`;
}

/** The answers that were given. Beside a single answer, slot 1 has one that was made for a judge. */
export function givenAnswers({ answers, duel }: Decision): readonly DecisionAnswer[] {
  return answers.filter(({ slot }) => duel || slot === 0);
}

/** The cost of the answers that were given, in US dollars; undefined until it is known. */
export function costOf(decision: Decision): number | undefined {
  const costs = givenAnswers(decision).flatMap(({ cost }) => (cost === undefined ? [] : [cost]));
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}

/** The votes on a decision in a few words. */
export function votesInWords({ votes, models }: Decision): string {
  return votes
    .filter(({ comment }) => comment === undefined)
    .map(({ outcome, rating, ranking, metric }) => {
      if (metric !== undefined) return `${metric.name}: ${metric.value}`;
      if (outcome === "tie") return "tie";
      if (outcome === "both_bad") return "both bad";
      if (outcome !== undefined) return `${models?.[outcome === "a" ? 0 : 1] ?? outcome} preferred`;
      if (rating !== undefined)
        return rating > 0 ? "rated good" : rating < 0 ? "rated bad" : "rated neutral";
      return ranking ? `${ranking[0]} ranked first` : "";
    })
    .join(", ");
}

/** The category with the largest share in the prompt. */
export function categoryIn({ categories }: Decision): string | undefined {
  return Object.entries(categories ?? {}).toSorted(([, a], [, b]) => b - a)[0]?.[0];
}
