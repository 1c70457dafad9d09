import type { Pool } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { RoutedChoice, Router } from "../../core/router.ts";
import type { Reasons } from "../../store/decision.ts";
import type { RouterConfig } from "../config/config.ts";
import { lackOf, type Needs } from "../providers/capabilities.ts";
import type { ServedModel } from "../providers/served-model.ts";
import { HttpError } from "../wire/http-error.ts";
import type { PriceQuote } from "./answer-prices.ts";

/** The properties of a request that the choice of its models depends on. */
export interface ChoiceQuery {
  /** Id of the decision. */
  readonly id: string;
  readonly x: Float64Array;
  readonly needs: Needs;
  /** Expected prices by model, for models whose price is known. */
  readonly quotes: ReadonlyMap<string, Pick<PriceQuote, "expected"> & Partial<PriceQuote>>;
  /** Models that the client allows. */
  readonly allowed?: readonly string[] | undefined;
  /** Models that the API key may use. The others are never named. */
  readonly permitted?: readonly string[] | undefined;
  readonly tradeoff: number;
  readonly duel: boolean | "auto";
  /** The session's model. If `firmly` is true, no other model may answer this request. */
  readonly kept?: { readonly model: string; readonly firmly: boolean } | undefined;
  readonly seed: number;
}

/** The chosen pair, by index in the pool, with everything that explains it. */
export interface PoolChoice {
  readonly candidates: Candidates;
  readonly pair: readonly [number, number];
  /** The pair that the policy chose in mode observe, in which `fallback` is served. */
  readonly observed?: readonly [number, number];
  readonly propensity: number;
  /** True if the policy chose, rather than the mode, the session or the guard. */
  readonly isPolicyChoice?: boolean;
  readonly values?: Float64Array | undefined;
  readonly estimate?: RoutedChoice["estimate"];
  /** Utility that one US dollar is worth here. */
  readonly lambda: number;
  readonly costs: ExpectedCosts | undefined;
  readonly reasons?: Reasons | undefined;
}

/**
 * Lets the policy choose within the limits that mode, session and guard set. The budget of the router is not
 * charged, because the caller may not serve the pair.
 */
export function choose(view: RouterView, query: ChoiceQuery): PoolChoice {
  const candidates = candidatesOf(view, query);
  const costs = expectedCosts(view.pool.models, query.quotes);
  const { config, models, guard, costUnit } = view;
  // Price in units of the highest expected cost, so that the trade-off does not depend on the
  // length of the request.
  const price = costs ? costWeightOf(query.tradeoff) / costs.highest : 0;
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
      isCharged: false,
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
    return { ...choice, ...only(fixed!), observed: pair, reasons: { observed } };
  }
  if (fixed === undefined || query.duel === true) return { ...choice, isPolicyChoice: true };
  if (isFirm) return { ...choice, reasons: { kept: { model: nameOf(fixed), because: "tools" } } };
  if (query.kept) {
    const gain = netValue(choice, pair[0]) - netValue(choice, fixed);
    const margin = config.session_margin;
    // The price of a new model includes reading the whole conversation, so the margin is small.
    // The choice is only between this model and the session's, so it is not counted as the
    // policy's.
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
  { config, guard, models, name: router }: RouterView,
  { kept, permitted }: ChoiceQuery,
  candidates: readonly number[],
): number | undefined {
  const name = config.mode === "apply" ? (kept?.model ?? guard) : config.fallback!;
  if (name === undefined) return undefined;
  const k = models.findIndex((model) => model?.name === name);
  if (config.mode !== "apply" && !isPermitted(permitted, name)) throw nothingPermitted(router);
  // In the modes observe and bypass, the operator has named the model for every request.
  return candidates.includes(k) || (config.mode !== "apply" && models[k]) ? k : undefined;
}

/** Models of the pool that can serve a request, by index, and the reasons against the others. */
interface Candidates {
  readonly indices: readonly number[];
  readonly excluded: readonly (readonly [model: string, reason: string])[];
  /** The excluded models that could serve the request, but are not called for now because they failed often. */
  readonly resting: readonly string[];
}

function candidatesOf(
  { models, pool, name }: Pick<RouterView, "models" | "pool" | "name">,
  { needs, allowed, permitted }: Pick<ChoiceQuery, "needs" | "allowed" | "permitted">,
): Candidates {
  const known = pool.models.filter((model) => isPermitted(permitted, model));
  if (known.length === 0) throw nothingPermitted(name);
  if (allowed && !known.some((model) => allowed.includes(model))) {
    throw new HttpError(400, `allowed_models names no model of ${name}`, {
      hint: `it has ${known.join(", ")}`,
      code: "no_capable_model",
      param: "joust.allowed_models",
    });
  }
  const indices: number[] = [];
  const resting: number[] = [];
  const excluded: [string, string][] = [];
  for (let k = 0; k < pool.models.length; k++) {
    const model = models[k];
    if (!isPermitted(permitted, pool.models[k]!)) continue;
    const lack = !model
      ? "is not configured here"
      : model.spec.isDisabled
        ? "is disabled"
        : allowed && !allowed.includes(model.name)
          ? "is not among allowed_models"
          : needs.priced && !model.spec.price
            ? "has no price, and the API key has a budget"
            : needs.native && !model.dialects.includes(needs.native.dialect)
              ? `does not speak ${needs.native.dialect}, which ${needs.native.what} needs`
              : lackOf(model.capabilities, needs);
    if (lack !== undefined) excluded.push([pool.models[k]!, lack]);
    else if (model!.isResting) resting.push(k);
    else indices.push(k);
  }
  if (indices.length === 0) {
    if (resting.length === 0) throw noCandidate(name, excluded, needs.native);
    // Every capable model has failed often. Trying one is better than an error.
    return { indices: resting, excluded, resting: [] };
  }
  const names = resting.map((k) => pool.models[k]!);
  for (const name of names) excluded.push([name, "has failed often and is not called for now"]);
  return { indices, excluded, resting: names };
}

function isPermitted(permitted: readonly string[] | undefined, model: string): boolean {
  return permitted === undefined || permitted.includes(model);
}

function nothingPermitted(router: string): HttpError {
  return new HttpError(403, `this API key may not use the models of \`${router}\``, {
    hint: "use another router or a model, or ask the operator for a key with more models",
    type: "permission_error",
    code: "model_not_allowed",
    param: "model",
  });
}

function noCandidate(
  router: string,
  excluded: Candidates["excluded"],
  native: Needs["native"],
): HttpError {
  const reasons = excluded.map(([model, reason]) => `${model} ${reason}`).join("; ");
  return new HttpError(400, `no model of ${router} can serve this request: ${reasons}`, {
    hint: native
      ? `${native.what} runs at the provider: remove it${native.what === native.param ? "" : ` from ${native.param}`}, or add a model to ${router} whose provider has dialects.${native.dialect}`
      : "change the request, or add a model that can serve it",
    code: "no_capable_model",
    param: native?.param ?? "model",
  });
}

/** Expected costs of the pool's answers in US dollars, and the highest of them. */
interface ExpectedCosts {
  readonly all: Float64Array;
  readonly highest: number;
}

/**
 * A model without a price is given the mean cost of the others. Undefined if no model has a
 * price above 0.
 */
function expectedCosts(
  models: readonly string[],
  quotes: ChoiceQuery["quotes"],
): ExpectedCosts | undefined {
  const all = new Float64Array(models.length);
  let sum = 0;
  let known = 0;
  let highest = 0;
  for (let k = 0; k < models.length; k++) {
    const cost = quotes.get(models[k]!)?.expected;
    all[k] = cost ?? Number.NaN;
    if (cost === undefined) continue;
    sum += cost;
    known++;
    if (cost > highest) highest = cost;
  }
  if (highest === 0) return undefined;
  for (let k = 0; k < all.length; k++) if (Number.isNaN(all[k])) all[k] = sum / known;
  return { all, highest };
}

/** State of a router at one moment. A decision is made with one view. */
export interface RouterView {
  readonly name: string;
  readonly config: RouterConfig;
  readonly router: Router;
  /** Version of the posterior: position in the log of the last event it has learned from. */
  readonly version: number;
  /** Name of the encoder in the log. */
  readonly encoder: string;
  readonly pool: Pool;
  /**
   * The pool's models in its order; undefined for a model that this node does not serve. A fallback
   * that is not in the pool follows them.
   */
  readonly models: readonly (ServedModel | undefined)[];
  /** Shares of the categories in an embedding. */
  readonly membership: (x: Float64Array) => Float64Array;
  /** Cost in US dollars that the router counts as 1. */
  readonly costUnit: number;
  /** The model that is served while the guard is on. */
  readonly guard?: string | undefined;
}

/**
 * Weight of cost of a cost_quality_tradeoff t from 0 (quality alone) to 10 (the cheapest model):
 * t / (10 - t) / 4. It is the quality that the cost of the most expensive model for this request is
 * worth. Divided by that cost, it is lambda, the quality that one US dollar is worth. At t = 5, a free
 * model is chosen if it is at most 0.25 worse than the most expensive one; at t = 3, 0.11; at t = 8, 1, so
 * that from there price decides almost alone.
 */
export function costWeightOf(tradeoff: number): number {
  return Math.min(CHEAPEST, Math.max(TIES, tradeoff / (10 - tradeoff) / 4));
}

/** At 10, any difference in price outweighs every difference in quality, which only breaks ties. */
const CHEAPEST = 1e4;
/** At 0, price only decides between models of equal or unknown quality. */
const TIES = 1e-6;

/** Rounds to six digits, which is enough for the log. It takes a tenth of the time of toPrecision. */
export function short(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const scale = 10 ** (5 - Math.floor(Math.log10(Math.abs(value))));
  return Math.round(value * scale) / scale;
}
