import type { Pool } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { RoutedChoice, Router } from "../../core/router.ts";
import type { Decision, Reasons } from "../../store/decision.ts";
import type { RouterConfig } from "../config/config.ts";
import type { Needs } from "../providers/capabilities.ts";
import type { ServedModel } from "../providers/served-model.ts";
import { ableOf, expectedCosts } from "./candidates.ts";
import { lambdaOf } from "./tradeoff.ts";

/** A router at one moment: what a request is planned with. */
export interface View {
  readonly name: string;
  readonly config: RouterConfig;
  readonly router: Router;
  /** Of the posterior. */
  readonly version: number;
  readonly encoder: string;
  readonly pool: Pool;
  /** The pool's models, in its order; undefined where this node has none of the name. */
  readonly models: readonly (ServedModel | undefined)[];
  readonly membership: (x: Float64Array) => Float64Array;
  readonly costUnit: number;
  /** The one model that is served while the guard is on. */
  readonly guard?: string | undefined;
}

/** What a plan is made for. */
export interface Ask {
  readonly decision: string;
  readonly x: Float64Array;
  readonly needs: Needs;
  readonly allowed?: readonly string[] | undefined;
  readonly tradeoff: number;
  readonly duel: boolean | "auto";
  /** The model of the running session; `firmly` where it cannot change now. */
  readonly kept?: { readonly model: string; readonly firmly: boolean } | undefined;
  readonly seed: number;
}

/** Who is to answer. */
export interface Plan {
  readonly decision: string;
  /** In the order shown; both the same where it is no duel. */
  readonly pair: readonly [ServedModel, ServedModel];
  readonly isDuel: boolean;
  /** Who else could, the best first. */
  readonly others: () => ServedModel[];
  /** For the log. It takes a moment, for which the answer need not wait. */
  readonly explain: (details: Details) => Decision;
}

export interface Details {
  readonly at: number;
  readonly owner?: string | undefined;
  readonly session?: string | undefined;
  readonly prompt?: Uint8Array | undefined;
  readonly notes?: Pick<Reasons, "duel" | "encoder_failed"> | undefined;
}

export function plan(view: View, ask: Ask): Plan {
  const { models } = view;
  const { able, excluded } = ableOf(view, ask);
  const costs = expectedCosts(models, ask.needs);
  const chosen = choose(view, ask, able, costs);
  const { pair, propensity, values, lambda } = chosen;
  const worth = worthBy(chosen, costs);
  const nameOf = (k: number) => models[k]!.name;
  return {
    decision: ask.decision,
    pair: [models[pair[0]]!, models[pair[1]]!],
    isDuel: pair[0] !== pair[1],
    others: () =>
      able
        .filter((k) => !pair.includes(k))
        .toSorted((a, b) => worth(b) - worth(a))
        .map((k) => models[k]!),
    explain: ({ at, owner, session, prompt, notes }) => {
      const believed = beliefs(view, ask.x, able, chosen, worth);
      const mean = believed.mean ?? values;
      return {
        kind: "routed",
        router: view.name,
        at,
        id: ask.decision,
        owner,
        session,
        mode: view.config.mode,
        encoder: view.encoder,
        x: ask.x,
        candidates: able.map(nameOf),
        pair: [nameOf(pair[0]), nameOf(pair[1])],
        propensity,
        answers: chosen.isPolicys ? (answersOf(ask) ?? "any") : undefined,
        seed: ask.seed,
        version: view.version,
        values: mean && able.map((k) => short(mean[k]!)),
        costs: costs && able.map((k) => short(costs.all[k]!)),
        lambda: short(lambda),
        reasons: {
          tradeoff: ask.tradeoff,
          excluded: excluded.length > 0 ? Object.fromEntries(excluded) : undefined,
          ...chosen.reasons,
          ...notes,
          ...believed.reasons,
        } satisfies Reasons,
        prompt,
      };
    },
  };
}

interface Chosen {
  readonly pair: readonly [number, number];
  readonly propensity: number;
  /** Not the mode's, the session's or the guard's. */
  readonly isPolicys?: boolean;
  readonly values?: Float64Array | undefined;
  readonly estimate?: RoutedChoice["estimate"];
  /** Utility that a US dollar is worth here. */
  readonly lambda: number;
  readonly reasons?: Partial<Reasons>;
}

type Costs = ReturnType<typeof expectedCosts>;

/** The policy's choice, within what mode, session and guard leave to it. */
function choose(view: View, ask: Ask, able: readonly number[], costs: Costs): Chosen {
  const { config, models, guard, costUnit } = view;
  // In units of what the dearest model would cost here, whatever the request's length.
  const price = costs ? lambdaOf(ask.tradeoff) / costs.dearest : 0;
  const random = Random.seeded(ask.seed);
  const fixed = fixedModel(view, ask, able);
  if (config.mode === "bypass") return { ...only(fixed!), lambda: price };

  const isFirm = ask.kept?.firmly === true && fixed !== undefined && config.mode === "apply";
  const routed = view.router.route(
    {
      id: ask.decision,
      x: ask.x,
      candidates: isFirm ? [fixed] : able,
      costs: costs?.all,
      lambda: price * costUnit,
      answers: answersOf(ask),
    },
    random,
  );
  const { pair, propensity, values, estimate } = routed;
  const lambda = routed.lambda / costUnit;
  const chosen = { pair, propensity, values, estimate, lambda };
  const nameOf = (k: number) => models[k]!.name;
  if (config.mode === "observe") {
    const observed = { pair: [nameOf(pair[0]), nameOf(pair[1])] as const, propensity };
    return { ...chosen, ...only(fixed!), reasons: { observed } };
  }
  if (fixed === undefined || ask.duel === true) return { ...chosen, isPolicys: true };
  if (isFirm) return { ...chosen, reasons: { kept: { model: nameOf(fixed), because: "tools" } } };
  if (ask.kept) {
    const worth = worthBy(chosen, costs);
    const gain = worth(pair[0]) - worth(fixed);
    const margin = config.session_margin;
    // What a new model would have to read again is paid for, and a conversation likes one voice.
    if (pair[0] === pair[1] && gain > margin) return chosen; // a choice, but of two models only
    const kept = { model: nameOf(fixed), because: "session", gain: short(gain), margin } as const;
    return { ...chosen, ...only(fixed), reasons: { kept } };
  }
  // Now and then the policy may show that it has got better.
  const isTrial = random.split("guard").uniform() < config.explore;
  const served = isTrial ? pair : only(fixed).pair;
  const isFixed = served[0] === fixed && served[1] === fixed;
  const mixed = config.explore * propensity + (isFixed ? 1 - config.explore : 0);
  return { ...chosen, pair: served, propensity: mixed, reasons: { guard } };
}

/** A model's utility less what its cost is worth; none is known of a policy without values. */
function worthBy({ values, lambda }: Chosen, costs: Costs): (k: number) => number {
  return (k) => (values?.[k] ?? 0) - lambda * (costs?.all[k] ?? 0);
}

function answersOf({ duel }: Ask): 1 | 2 | undefined {
  return duel === true ? 2 : duel === "auto" ? undefined : 1;
}

function only(k: number): { pair: readonly [number, number]; propensity: number } {
  return { pair: [k, k], propensity: 1 };
}

/** The model that there is no choice about: of the mode, of the session, of the guard. */
function fixedModel(view: View, { kept }: Ask, able: readonly number[]): number | undefined {
  const { config, guard, pool } = view;
  const name = config.mode === "apply" ? (kept?.model ?? guard) : config.fallback!;
  if (name === undefined) return undefined;
  const k = pool.models.indexOf(name);
  // In observe and bypass the operator has said who answers, whatever is asked.
  return able.includes(k) || (config.mode !== "apply" && view.models[k]) ? k : undefined;
}

/** What the policy believes of this query, for who asks later why. */
function beliefs(
  { router, pool, membership }: View,
  x: Float64Array,
  able: readonly number[],
  chosen: Chosen,
  worth: (k: number) => number,
): { mean?: Float64Array; reasons: Partial<Reasons> } {
  const w = membership(x);
  const categories = topShares(pool.categories, w);
  const estimate = chosen.estimate ? chosen.estimate() : router.policy.estimate?.(w);
  if (!estimate) return { reasons: { categories } };
  const { pair } = chosen;
  const { mean, sd } = estimate;
  const uncertainty = able.map((k) => short(sd[k]!));
  const rivals = pair[0] === pair[1] ? able.filter((k) => k !== pair[0]) : [pair[1]];
  if (rivals.length === 0) return { mean, reasons: { categories, uncertainty } };
  const rival = rivals.reduce((a, b) => (worth(b) > worth(a) ? b : a));
  const win = short(estimate.beats(pair[0], rival));
  return { mean, reasons: { categories, uncertainty, runner_up: pool.models[rival]!, win } };
}

/** The categories that a query mostly belongs to. */
function topShares(names: readonly string[], w: Float64Array): Record<string, number> {
  const shares: Record<string, number> = {};
  for (let m = 0; m < w.length; m++) if (w[m]! >= LEAST_SHARE) shares[names[m]!] = short(w[m]!);
  return shares;
}

const LEAST_SHARE = 0.05;

/** Six digits say as much as sixteen, in the log of every request. */
function short(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const scale = 10 ** (5 - Math.floor(Math.log10(Math.abs(value))));
  return Math.round(value * scale) / scale; // a tenth of the time of toPrecision
}
