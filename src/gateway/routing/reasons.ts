import type { Routed } from "../../store/events.ts";

/** What explains a decision besides its values and costs; it is logged with it. */
export interface Reasons {
  readonly tradeoff: number;
  /** Why models had no part in it. */
  readonly excluded?: Readonly<Record<string, string>> | undefined;
  /** Shares of the categories that the query belongs to. */
  readonly categories?: Readonly<Record<string, number>> | undefined;
  /** Sd of each candidate's utility relative to the pool's mean. */
  readonly uncertainty?: readonly number[] | undefined;
  /** The best of the others, and the probability that a vote prefers the first choice to it. */
  readonly runner_up?: string | undefined;
  readonly win?: number | undefined;
  readonly kept?:
    | {
        readonly model: string;
        readonly because: "tools" | "session";
        readonly gain?: number;
        readonly margin?: number;
      }
    | undefined;
  /** The best fixed model, served because routing has done worse. */
  readonly guard?: string | undefined;
  /** What would have been chosen, where the router only observes. */
  readonly observed?: { readonly pair: readonly [string, string]; readonly propensity: number };
  /** What became of the wish for a duel. */
  readonly duel?: "asked" | "auto" | "capped" | "not_possible" | undefined;
  readonly encoder_failed?: boolean | undefined;
}

/** Why, for a person. */
export function inWords(routed: Omit<Routed, "x">): string[] {
  const { pair, candidates, values, costs, mode, propensity } = routed;
  const reasons = (routed.reasons ?? {}) as Partial<Reasons>;
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
