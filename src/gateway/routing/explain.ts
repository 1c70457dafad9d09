import { type Decision, isDuel, type Reasons } from "../../store/decision.ts";
import {
  answersOf,
  type ChoiceQuery,
  netValue,
  type PoolChoice,
  type RouterView,
  short,
} from "./choose.ts";

/** Facts about a decision that its choice does not depend on. */
export type DecisionFacts = Pick<Decision, "at" | "owner" | "session" | "prompt" | "sample"> & {
  readonly reasons: Reasons;
  /** Shares of the categories in the embedding. */
  readonly w: Float64Array;
};

/** Converts a choice into a decision, which has models by name, estimates and reasons. */
export function explain(
  view: RouterView,
  query: ChoiceQuery,
  choice: PoolChoice,
  { at, owner, session, prompt, sample, reasons, w }: DecisionFacts,
): Decision {
  const { pair, propensity, values, lambda, costs } = choice;
  const { indices, excluded } = choice.candidates;
  const nameOf = (k: number) => view.models[k]!.name;
  const candidates = indices.map(nameOf);
  const beliefs = beliefsOf(view, w, choice);
  const mean = beliefs.mean ?? values;
  return {
    kind: "routed",
    router: view.name,
    at,
    id: query.id,
    owner,
    session,
    mode: view.config.mode,
    encoder: view.encoder,
    x: query.x,
    candidates,
    pair: [nameOf(pair[0]), nameOf(pair[1])],
    propensity,
    answers: choice.isPolicyChoice ? (answersOf(query) ?? "any") : undefined,
    seed: query.seed,
    version: view.version,
    values: mean && indices.map((k) => short(mean[k]!)),
    costs: costs && indices.map((k) => short(costs.all[k]!)),
    lambda: short(lambda),
    reasons: {
      tradeoff: query.tradeoff,
      tokens: tokensOf(query, candidates),
      excluded: excluded.length > 0 ? Object.fromEntries(excluded) : undefined,
      ...choice.reasons,
      ...reasons,
      ...beliefs.reasons,
    },
    sample,
    prompt,
  };
}

/** Tokens behind the expected costs; undefined if no candidate has a price. */
function tokensOf({ quotes }: ChoiceQuery, candidates: readonly string[]): Reasons["tokens"] {
  if (quotes.size === 0) return undefined;
  const of = (name: "prompt" | "cached" | "output") =>
    candidates.map((model) => Math.round(quotes.get(model)?.[name] ?? 0));
  return { prompt: of("prompt"), cached: of("cached"), output: of("output") };
}

/** The policy's estimates for this request. */
function beliefsOf(
  { router, pool }: RouterView,
  w: Float64Array,
  choice: PoolChoice,
): { mean?: Float64Array; reasons: Reasons } {
  const categories = topShares(pool.categories, w);
  const estimate = choice.estimate ? choice.estimate() : router.policy.estimate?.(w);
  if (!estimate) return { reasons: { categories } };
  const { pair } = choice;
  const { indices } = choice.candidates;
  const { mean, sd } = estimate;
  const uncertainty = indices.map((k) => short(sd[k]!));
  const rivals = pair[0] === pair[1] ? indices.filter((k) => k !== pair[0]) : [pair[1]];
  if (rivals.length === 0 || pair[0] >= pool.models.length) {
    return { mean, reasons: { categories, uncertainty } };
  }
  const rival = rivals.reduce((a, b) => (netValue(choice, b) > netValue(choice, a) ? b : a));
  const win = short(estimate.beats(pair[0], rival));
  return { mean, reasons: { categories, uncertainty, runner_up: pool.models[rival]!, win } };
}

/** Categories with a share of at least 5%. */
function topShares(names: readonly string[], w: Float64Array): Record<string, number> {
  const shares: Record<string, number> = {};
  for (let m = 0; m < w.length; m++) if (w[m]! >= LEAST_SHARE) shares[names[m]!] = short(w[m]!);
  return shares;
}

const LEAST_SHARE = 0.05;

/** Explains a decision in sentences. */
export function inWords(decision: Omit<Decision, "x">): string[] {
  const { pair, candidates, values, costs, mode, propensity, reasons = {} } = decision;
  const [a, b] = pair;
  const sentences: string[] = [];
  const of = (list: readonly number[] | undefined, model: string) =>
    list?.[candidates.indexOf(model)];
  const categories = Object.entries(reasons.categories ?? {})
    .toSorted(([, x], [, y]) => y - x)
    .map(([name, share]) => `${name} ${percent(share)}`);
  if (categories.length > 0) sentences.push(`the prompt looks like ${categories.join(", ")}`);
  if (reasons.encoder_failed) sentences.push("the encoder failed, so the prompt was ignored");
  if (mode !== "apply") sentences.push(`the router is in mode ${mode}, so ${a} answers`);
  if (reasons.observed) {
    const [first, second] = reasons.observed.pair;
    sentences.push(
      first === second
        ? `the policy would choose ${first}`
        : `the policy would show ${first} and ${second}`,
    );
  }
  if (reasons.kept) {
    const { model, because, gain, margin } = reasons.kept;
    sentences.push(
      because === "tools"
        ? `${model} is kept, because it waits for the result of a tool`
        : `${model} is kept in its session, because another model gains ${signed(gain)}, less than ${margin}`,
    );
  }
  if (reasons.guard) {
    sentences.push(`the guard is on: votes show that ${reasons.guard} does better than routing`);
  }
  if (isDuel(decision)) sentences.push(`a duel of ${a} and ${b}`);
  const value = of(values, a);
  if (mode === "apply" && value !== undefined) {
    const sd = of(reasons.uncertainty, a);
    const cost = of(costs, a);
    sentences.push(
      [
        `${a} would win ${winsOf(value)} of 100 comparisons with the pool's average answer`,
        ...(sd === undefined ? [] : [`with a standard deviation of ${(50 * sd).toFixed(1)}`]),
        ...(cost === undefined ? [] : [`and costs about $${inDecimals(cost)}`]),
      ].join(", "),
    );
  }
  if (reasons.win !== undefined && reasons.runner_up !== undefined) {
    const win = percent(reasons.win);
    sentences.push(`a vote prefers ${a} to ${reasons.runner_up} with probability ${win}`);
  }
  if (propensity < 0.5 && mode === "apply") sentences.push("chosen at random, to learn");
  for (const [model, reason] of Object.entries(reasons.excluded ?? {})) {
    sentences.push(`${model} ${reason}`);
  }
  if (reasons.duel === "capped") {
    sentences.push(
      "no duel: duels have reached their largest share of the requests or of the cost",
    );
  }
  if (reasons.duel === "not_possible") sentences.push(reasons.no_duel ?? NO_DUEL);
  return sentences;
}

/** Sentence for decisions of older versions, which did not store why a requested duel was not possible. */
const NO_DUEL =
  "no duel: duels are not possible with tools, n > 1, a single model, or in a mode other than apply";

/** Wins of 100 that a quality means, relative to the pool's mean (docs/decisions/0005-unit-of-quality.md). */
function winsOf(quality: number): number {
  return Math.min(99, Math.max(1, Math.round(50 + 50 * quality)));
}

/** Two significant digits without an exponent. */
function inDecimals(cost: number): string {
  return cost === 0 ? "0" : cost.toFixed(Math.max(2, 1 - Math.floor(Math.log10(cost))));
}

function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}

function signed(value = 0): string {
  const text = value.toFixed(3);
  return `${text.startsWith("-") ? "" : "+"}${text}`.replace("-0.000", "+0.000");
}
