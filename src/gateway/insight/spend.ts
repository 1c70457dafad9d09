import type { Standing, Stats } from "../../api/stats.ts";
import type { Tally } from "../../store/tally.ts";
import { ALL_MODELS } from "../../store/tally.ts";
import type { ModelSpec } from "../providers/served-model.ts";
import type { Price } from "../providers/upstream/usage.ts";
import { mayBeBest } from "./standings.ts";

type Spend = Stats["spend"];
type AlwaysBest = NonNullable<Spend["always_best"]>;
type Alternative = NonNullable<Spend["always_cheapest"]>;

/** Prices by model, for models whose price is known. */
export type Prices = ReadonlyMap<string, Price>;

export function pricesOf(models: Iterable<{ readonly spec: ModelSpec }>): Prices {
  return new Map(
    [...models].flatMap(({ spec: { name, price } }): [string, Price][] =>
      price ? [[name, price]] : [],
    ),
  );
}

/**
 * Cost of the window, and the cost of the same tokens with one model for all requests. Duels have
 * two answers, which one model alone would not give, so the tokens are scaled to one answer per
 * request.
 */
export function spendOf(
  tallies: readonly Tally[],
  prices: Prices,
  overall: readonly Standing[],
): Spend {
  const byModel: Record<string, number> = {};
  const all = { cost: 0, answers: 0, shown: 0, input: 0, output: 0 };
  for (const { model, counts } of tallies) {
    if (model !== ALL_MODELS) {
      byModel[model] = (byModel[model] ?? 0) + counts.cost;
      continue;
    }
    all.cost += counts.cost;
    all.answers += counts.answers - counts.failures;
    all.shown += counts.shown;
    all.input += counts.input_tokens;
    all.output += counts.output_tokens;
  }
  const once = all.answers > 0 ? Math.min(1, all.shown / all.answers) : 0;
  const always = (model: string): Alternative[] => {
    const price = prices.get(model);
    if (!price) return [];
    const cost = (once * (all.input * price.input + all.output * price.output)) / 1e6;
    return [{ model, cost, savings: cost - all.cost }];
  };
  const [cheapest] = [...prices.keys()].flatMap(always).toSorted((a, b) => a.cost - b.cost);
  return {
    total: all.cost,
    by_model: byModel,
    requests: all.shown,
    cost_per_request: all.shown > 0 ? all.cost / all.shown : 0,
    always_best: alwaysBest(overall, always),
    always_cheapest: cheapest ?? null,
  };
}

function alwaysBest(
  overall: readonly Standing[],
  always: (model: string) => Alternative[],
): AlwaysBest | null {
  const [leader] = overall.slice(0, 1).flatMap(({ model }) => always(model));
  if (!leader) return null;
  const likely = mayBeBest(overall).flatMap(always);
  const savings = [leader, ...likely].map((one) => one.savings);
  return {
    ...leader,
    among: likely.map(({ model }) => model),
    lo: Math.min(...savings),
    hi: Math.max(...savings),
  };
}
