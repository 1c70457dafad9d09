import { Random } from "../../core/random/random.ts";
import type { RoutedChoice } from "../../core/router.ts";
import type { Reasons } from "../../store/decision.ts";
import type { Needs } from "../providers/capabilities.ts";
import { type Candidates, candidatesOf, type ExpectedCosts, expectedCosts } from "./candidates.ts";
import type { RouterView } from "./router-view.ts";
import { short } from "./short.ts";
import { lambdaOf } from "./tradeoff.ts";

/** A request as the choice of its models sees it. */
export interface ChoiceQuery {
  /** Id of the decision. */
  readonly id: string;
  readonly x: Float64Array;
  readonly needs: Needs;
  readonly allowed?: readonly string[] | undefined;
  readonly tradeoff: number;
  readonly duel: boolean | "auto";
  /** The session's model. It may not change now if `firmly`. */
  readonly kept?: { readonly model: string; readonly firmly: boolean } | undefined;
  readonly seed: number;
}

/** The chosen pair, by index in the pool, with everything that explains it. */
export interface PoolChoice {
  readonly candidates: Candidates;
  readonly pair: readonly [number, number];
  readonly propensity: number;
  /** True if the policy chose, rather than the mode, the session or the guard. */
  readonly isPolicys?: boolean;
  readonly values?: Float64Array | undefined;
  readonly estimate?: RoutedChoice["estimate"];
  /** Utility that one US dollar is worth here. */
  readonly lambda: number;
  readonly costs: ExpectedCosts | undefined;
  readonly reasons?: Reasons | undefined;
}

/** Lets the policy choose within the limits that mode, session and guard set. */
export function choose(view: RouterView, query: ChoiceQuery): PoolChoice {
  const candidates = candidatesOf(view, query.needs, query.allowed);
  const costs = expectedCosts(view.models, query.needs);
  const { config, models, guard, costUnit } = view;
  // Price in units of the highest expected cost, so that it does not depend on the length.
  const price = costs ? lambdaOf(query.tradeoff) / costs.highest : 0;
  const random = Random.seeded(query.seed);
  const fixed = fixedModel(view, query, candidates.indices);
  if (config.mode === "bypass") return { candidates, costs, ...only(fixed!), lambda: price };

  const isFirm = query.kept?.firmly === true && fixed !== undefined && config.mode === "apply";
  const routed = view.router.route(
    {
      id: query.id,
      x: query.x,
      candidates: isFirm ? [fixed] : candidates.indices,
      costs: costs?.all,
      lambda: price * costUnit,
      answers: answersOf(query),
    },
    random,
  );
  const { pair, propensity, values, estimate } = routed;
  const lambda = routed.lambda / costUnit;
  const choice: PoolChoice = {
    candidates,
    costs,
    pair,
    propensity,
    values,
    estimate,
    lambda,
  };
  const nameOf = (k: number) => models[k]!.name;
  if (config.mode === "observe") {
    const observed = { pair: [nameOf(pair[0]), nameOf(pair[1])] as const, propensity };
    return { ...choice, ...only(fixed!), reasons: { observed } };
  }
  if (fixed === undefined || query.duel === true) return { ...choice, isPolicys: true };
  if (isFirm) return { ...choice, reasons: { kept: { model: nameOf(fixed), because: "tools" } } };
  if (query.kept) {
    const gain = netValue(choice, pair[0]) - netValue(choice, fixed);
    const margin = config.session_margin;
    // A new model has to read the whole conversation again, which costs, so it must gain enough.
    // The choice was between two models only, so it is not counted as the policy's.
    if (pair[0] === pair[1] && gain > margin) return choice;
    const kept = { model: nameOf(fixed), because: "session", gain: short(gain), margin } as const;
    return { ...choice, ...only(fixed), reasons: { kept } };
  }
  // The guard is on. Now and then the policy is served, to show whether it has improved.
  const isTrial = random.split("guard").uniform() < config.explore;
  const served = isTrial ? pair : only(fixed).pair;
  const isFixed = served[0] === fixed && served[1] === fixed;
  const mixed = config.explore * propensity + (isFixed ? 1 - config.explore : 0);
  return { ...choice, pair: served, propensity: mixed, reasons: { guard } };
}

/** Utility of a model minus its cost; the utility counts as 0 if the policy has no values. */
export function netValue(
  { values, lambda, costs }: Pick<PoolChoice, "values" | "lambda" | "costs">,
  k: number,
): number {
  return (values?.[k] ?? 0) - lambda * (costs?.all[k] ?? 0);
}

/** Number of answers that the router should choose; undefined lets the policy decide. */
export function answersOf({ duel }: Pick<ChoiceQuery, "duel">): 1 | 2 | undefined {
  return duel === true ? 2 : duel === "auto" ? undefined : 1;
}

function only(k: number): { pair: readonly [number, number]; propensity: number } {
  return { pair: [k, k], propensity: 1 };
}

/** The model that mode, session or guard prescribe, if it can serve the request. */
function fixedModel(
  { config, guard, pool, models }: RouterView,
  { kept }: ChoiceQuery,
  candidates: readonly number[],
): number | undefined {
  const name = config.mode === "apply" ? (kept?.model ?? guard) : config.fallback!;
  if (name === undefined) return undefined;
  const k = pool.models.indexOf(name);
  // In observe and bypass the operator has named the model for every request.
  return candidates.includes(k) || (config.mode !== "apply" && models[k]) ? k : undefined;
}
