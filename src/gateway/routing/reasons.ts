import type { Decision } from "../../store/decision.ts";

/** Why, for a person. */
export function inWords(decision: Omit<Decision, "x">): string[] {
  const { pair, candidates, values, costs, mode, propensity } = decision;
  const reasons = decision.reasons ?? {};
  const [a, b] = pair;
  const said: string[] = [];
  const of = (list: readonly number[] | undefined, model: string) =>
    list?.[candidates.indexOf(model)];
  const kinds = Object.entries(reasons.categories ?? {})
    .toSorted(([, x], [, y]) => y - x)
    .map(([name, share]) => `${name} ${percent(share)}`);
  if (kinds.length > 0) said.push(`the prompt looks like ${kinds.join(", ")}`);
  if (reasons.encoder_failed) said.push("the encoder failed, so the prompt had no part in it");
  if (mode !== "apply") said.push(`the router is in mode ${mode}, so ${a} answers`);
  if (reasons.observed) {
    const [first, second] = reasons.observed.pair;
    said.push(
      first === second ? `it would choose ${first}` : `it would show ${first} and ${second}`,
    );
  }
  if (reasons.kept) {
    const { model, because, gain, margin } = reasons.kept;
    said.push(
      because === "tools"
        ? `${model} is kept: it waits for the result of a tool`
        : `${model} is kept in its session: another one promises ${signed(gain)} more, less than ${margin}`,
    );
  }
  if (reasons.guard)
    said.push(`the guard is on: votes say that ${reasons.guard} alone does better`);
  if (a !== b) said.push(`a duel of ${a} and ${b}`);
  const value = of(values, a);
  if (mode === "apply" && value !== undefined) {
    const sd = of(reasons.uncertainty, a);
    const cost = of(costs, a);
    said.push(
      [
        `${a} is expected to do ${signed(value)} against the pool's mean`,
        ...(sd === undefined ? [] : [`give or take ${sd.toFixed(3)}`]),
        ...(cost === undefined ? [] : [`for about $${Number(cost.toPrecision(2))}`]),
      ].join(", "),
    );
  }
  if (reasons.win !== undefined && reasons.runner_up !== undefined) {
    said.push(`a vote prefers it to ${reasons.runner_up} with probability ${percent(reasons.win)}`);
  }
  if (propensity < 0.5 && mode === "apply") said.push("chosen at random, to learn");
  for (const [model, lack] of Object.entries(reasons.excluded ?? {})) said.push(`${model} ${lack}`);
  if (reasons.duel === "capped")
    said.push("no duel: their share of requests or of spend is used up");
  if (reasons.duel === "not_possible") said.push(NO_DUEL);
  return said;
}

/** Why one that was wanted is not possible. */
export const NO_DUEL =
  "no duel: there is none with tools, n > 1, a single model, or in a mode other than apply";

function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}

function signed(value = 0): string {
  const text = value.toFixed(3);
  return `${text.startsWith("-") ? "" : "+"}${text}`.replace("-0.000", "+0.000");
}
