import type { Tally } from "../../store/tally.ts";
import { ALL_MODELS } from "../../store/tally.ts";
import type { ModelSpec } from "../serving/served-model.ts";
import type { Price } from "../upstream/usage.ts";

/** What was spent, and what the same tokens would have cost with one model for all. */
export interface Spend {
  readonly total: number;
  readonly by_model: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly cost_per_request: number;
  readonly always_best: Alternative | null;
  readonly always_cheapest: Alternative | null;
}

interface Alternative {
  readonly model: string;
  readonly cost: number;
  /** What routing has saved against it; negative where it would have been cheaper. */
  readonly savings: number;
}

/** Of the models that there are prices for. */
export type Prices = ReadonlyMap<string, Price>;

export function pricesOf(models: Iterable<{ readonly spec: ModelSpec }>): Prices {
  return new Map(
    [...models].flatMap(({ spec: { name, price } }): [string, Price][] =>
      price ? [[name, price]] : [],
    ),
  );
}

/**
 * Duels answer twice, which always asking one model would not have done: the
 * tokens are scaled down to one answer a request.
 */
export function spendOf(
  tallies: readonly Tally[],
  prices: Prices,
  best: string | undefined,
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
  const costWith = (name: string): number | undefined => {
    const price = prices.get(name);
    return price && (once * (all.input * price.input + all.output * price.output)) / 1e6;
  };
  const alternative = (name: string | undefined): Alternative | null => {
    const cost = name === undefined ? undefined : costWith(name);
    return cost === undefined ? null : { model: name!, cost, savings: cost - all.cost };
  };
  const cheapest = [...prices.keys()].toSorted((a, b) => costWith(a)! - costWith(b)!)[0];
  return {
    total: all.cost,
    by_model: byModel,
    requests: all.shown,
    cost_per_request: all.shown > 0 ? all.cost / all.shown : 0,
    always_best: alternative(best),
    always_cheapest: alternative(cheapest),
  };
}
