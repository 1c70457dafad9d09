import type { Standing, Stats } from "../../api/stats.ts";
import { ALL_MODELS, addCounts, type Counts, noCounts, type Tally } from "../../store/tally.ts";
import type { ModelSpec } from "../providers/served-model.ts";
import type { Price } from "../providers/upstream/usage.ts";
import { alwaysCost } from "./always.ts";
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
 * Cost of the window, and its comparison with one model for all requests. Steps that were logged
 * by a version without this comparison are left out of it, and so are models that were added, or
 * got their price, after the first of the other steps.
 */
export function spendOf(
  tallies: readonly Tally[],
  prices: Prices,
  overall: readonly Standing[],
): Spend {
  const comparable = new Set(
    tallies.flatMap(({ model, bucket, counts }) =>
      model === ALL_MODELS && counts.priced > 0 ? [bucket] : [],
    ),
  );
  const byModel = sumsOf(tallies);
  const inComparison = tallies.filter(({ bucket }) => comparable.has(bucket));
  const compared = sumsOf(inComparison);
  const all = byModel.get(ALL_MODELS) ?? noCounts();
  const together = compared.get(ALL_MODELS) ?? noCounts();
  const { cost: spent } = together;
  const steps = stepsByModel(inComparison);
  const always = [...prices].flatMap(([model, price]): Alternative[] => {
    const isFree = price.input === 0 && price.output === 0;
    const isWhole = isFree || steps.get(model) === comparable.size;
    const found = isWhole ? alwaysCost(compared.get(model), together) : undefined;
    if (!found) return [];
    const { cost } = found;
    const [lo, hi] = [saved(found.lo, spent), saved(found.hi, spent)];
    return [{ model, cost, savings: saved(cost, spent), lo, hi }];
  });
  byModel.delete(ALL_MODELS);
  return {
    total: all.cost,
    learning: Math.min(all.cost, learningCost([...byModel.values()])),
    compared: spent,
    by_model: Object.fromEntries([...byModel].map(([model, { cost }]) => [model, cost])),
    requests: all.shown,
    cost_per_request: all.shown > 0 ? all.cost / all.shown : 0,
    always,
    always_best: alwaysBest(overall, always),
    always_cheapest: always.toSorted((a, b) => a.cost - b.cost)[0] ?? null,
  };
}

/** A difference that is exactly 0 if both are sums of the same costs, which were rounded in another order. */
function saved(cost: number, spent: number): number {
  return Math.abs(cost - spent) <= 1e-9 * spent ? 0 : cost - spent;
}

/**
 * Cost of the answers that no request needed: one of the two answers of each duel, and the answers made for a judge, each
 * at the mean cost of its model's answers. Calls that failed are not part of that mean.
 */
function learningCost(models: readonly Counts[]): number {
  return models.reduce((sum, { cost, failed_cost, answers, failures, for_judge, duels }) => {
    const made = answers - failures;
    const inDuels = Math.min(made - for_judge, duels);
    return made > 0 ? sum + ((cost - failed_cost) / made) * (for_judge + inDuels / 2) : sum;
  }, 0);
}

/** Counts of all steps together, by model. */
export function sumsOf(tallies: readonly Tally[]): Map<string, Counts> {
  const sums = new Map<string, Counts>();
  for (const { model, counts } of tallies) {
    const sum = sums.get(model);
    sums.set(model, sum ? addCounts(sum, counts) : counts);
  }
  return sums;
}

/**
 * Number of steps for which the cost of "always this model" is known, by model. A step in which the model's own
 * answers were charged at 0 counts too.
 */
function stepsByModel(tallies: readonly Tally[]): Map<string, number> {
  const steps = new Map<string, number>();
  for (const { model, counts } of tallies) {
    if (counts.always_cost > 0 || counts.priced > 0) steps.set(model, (steps.get(model) ?? 0) + 1);
  }
  return steps;
}

function alwaysBest(
  overall: readonly Standing[],
  always: readonly Alternative[],
): AlwaysBest | null {
  const leader = always.find(({ model }) => model === overall[0]?.model);
  if (!leader) return null;
  const likely = mayBeBest(overall).flatMap((name) => always.filter(({ model }) => model === name));
  return {
    ...leader,
    among: likely.map(({ model }) => model),
    among_lo: Math.min(leader.lo, ...likely.map(({ lo }) => lo)),
    among_hi: Math.max(leader.hi, ...likely.map(({ hi }) => hi)),
  };
}
