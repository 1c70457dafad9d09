import type { Decision, Reasons } from "../../store/decision.ts";
import { answersOf, type ChoiceQuery, netValue, type PoolChoice } from "./choose.ts";
import type { RouterView } from "./router-view.ts";
import { short } from "./short.ts";

/** Facts about a decision that its choice does not depend on. */
export type DecisionFacts = Pick<Decision, "at" | "owner" | "session" | "prompt"> & {
  readonly reasons: Reasons;
};

/** Writes a choice down as a decision: models by name, with beliefs and reasons. */
export function explain(
  view: RouterView,
  query: ChoiceQuery,
  choice: PoolChoice,
  { at, owner, session, prompt, reasons }: DecisionFacts,
): Decision {
  const { pair, propensity, values, lambda, costs } = choice;
  const { indices, excluded } = choice.candidates;
  const nameOf = (k: number) => view.models[k]!.name;
  const beliefs = beliefsOf(view, query.x, choice);
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
    candidates: indices.map(nameOf),
    pair: [nameOf(pair[0]), nameOf(pair[1])],
    propensity,
    answers: choice.isPolicys ? (answersOf(query) ?? "any") : undefined,
    seed: query.seed,
    version: view.version,
    values: mean && indices.map((k) => short(mean[k]!)),
    costs: costs && indices.map((k) => short(costs.all[k]!)),
    lambda: short(lambda),
    reasons: {
      tradeoff: query.tradeoff,
      excluded: excluded.length > 0 ? Object.fromEntries(excluded) : undefined,
      ...choice.reasons,
      ...reasons,
      ...beliefs.reasons,
    },
    prompt,
  };
}

/** The policy's estimates for this request. */
function beliefsOf(
  { router, pool, membership }: RouterView,
  x: Float64Array,
  choice: PoolChoice,
): { mean?: Float64Array; reasons: Reasons } {
  const w = membership(x);
  const categories = topShares(pool.categories, w);
  const estimate = choice.estimate ? choice.estimate() : router.policy.estimate?.(w);
  if (!estimate) return { reasons: { categories } };
  const { pair } = choice;
  const { indices } = choice.candidates;
  const { mean, sd } = estimate;
  const uncertainty = indices.map((k) => short(sd[k]!));
  const rivals = pair[0] === pair[1] ? indices.filter((k) => k !== pair[0]) : [pair[1]];
  if (rivals.length === 0) return { mean, reasons: { categories, uncertainty } };
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
