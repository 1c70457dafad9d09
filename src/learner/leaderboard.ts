import { categoryMembership } from "../core/bandit/features.ts";
import { reportOf } from "../core/bandit/policies/joust-report.ts";
import { Random } from "../core/random/random.ts";
import type { Logged, Voted } from "../store/events.ts";
import type { Fold } from "./fold.ts";

/** The models of a category, best first. */
export interface Leaderboard {
  readonly category: string;
  readonly models: readonly Standing[];
}

interface Standing extends Count {
  readonly model: string;
  /** Estimated utility minus the mean of the pool, if the policy estimates utilities. */
  readonly value: number | null;
  /** Standard deviation of the utility, if the policy has one. */
  readonly sd: number | null;
}

/** Estimated utility and vote counts of each model in each category. */
export function leaderboards(fold: Fold, votes: VoteCounts): Leaderboard[] {
  const { router, configuration } = fold;
  if (!router || !configuration) return [];
  const { models, categories, centroids } = configuration.pool;
  const candidates = models.map((_, k) => k);
  return categories.map((category, m) => {
    const estimate = reportOf(router.policy)?.onCategory(m);
    const values =
      estimate?.mean ??
      router.policy.choose({ x: centroids[m]!, candidates }, Random.seeded(0)).values;
    const middle = values ? values.reduce((sum, value) => sum + value, 0) / models.length : 0;
    const standings = models.map((model, k) => ({
      model,
      value: values ? values[k]! - middle : null,
      sd: estimate ? estimate.sd[k]! : null,
      ...votes.of(category, model),
    }));
    const score = ({ value, wins, losses }: Standing) => value ?? wins - losses;
    return { category, models: standings.sort((a, b) => score(b) - score(a)) };
  });
}

interface Count {
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

/** Counts duels by the category that their query belongs to most. */
export class VoteCounts {
  readonly #counts = new Map<string, { wins: number; losses: number; ties: number }>();
  readonly #categories: readonly string[];
  readonly #membership: (x: Float64Array) => Float64Array;
  readonly #dimension: number;

  constructor(categories: readonly string[], centroids: readonly Float64Array[]) {
    this.#categories = categories;
    this.#membership = categoryMembership(centroids);
    this.#dimension = centroids[0]?.length ?? 0;
  }

  add({ x, models, verdict }: Logged<Voted>): void {
    if (!("outcome" in verdict) || x.length !== this.#dimension) return;
    const w = this.#membership(x);
    const category = this.#categories[w.indexOf(Math.max(...w))]!;
    const { outcome } = verdict;
    models.forEach((model, slot) => {
      const count = this.#count(category, model);
      if (outcome === "tie" || outcome === "both_bad") count.ties++;
      else if ((outcome === "a") === (slot === 0)) count.wins++;
      else count.losses++;
    });
  }

  of(category: string, model: string): Count {
    return { ...this.#count(category, model) };
  }

  #count(category: string, model: string) {
    const key = `${category}\n${model}`;
    const count = this.#counts.get(key) ?? { wins: 0, losses: 0, ties: 0 };
    this.#counts.set(key, count);
    return count;
  }
}
