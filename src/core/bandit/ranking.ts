import { invalidValue } from "../errors/joust-error.ts";
import type { Random } from "../random/random.ts";
import { toldAt } from "./categories.ts";
import {
  type About,
  argmax,
  type Comparison,
  comparisonsOf,
  type Policy,
  type Pool,
} from "./policy.ts";

/**
 * Routers that only rank (Eagle, RouteLLM's two, nearest neighbours, clusters)
 * as policies. They were built for votes that others had collected, so they say
 * which model is best and not whom it should meet; what they leave open is
 * settled here in one way for all of them, so that a comparison between them is
 * one between their estimates:
 *
 * - The favourite is the argmax of the estimate, its opponent the `challenger`.
 * - Told scores are a head start: a model's logit on x is prior * scale * told(x)
 *   plus its rating, and ratings explain only what the told scores do not.
 * - Ratings are logits and penalties utility, so penalties count times `scale`,
 *   the assumed vote scale, and values are logits / scale.
 */
export interface Ranker {
  rate(x: Float64Array): Ratings;
  /** `offset`: the logit of a's win that the told scores give. */
  learn(x: Float64Array, comparison: Comparison, offset: number, random: Random): void;
  snapshot(): unknown;
  /** `from`: the models of the snapshot. */
  restore(state: unknown, from: readonly string[]): void;
}

/** One rating a model, in logits, and how uncertain their differences are. */
export interface Ratings {
  readonly mean: Float64Array;
  width(i: number, j: number): number;
}

export type RankingOptions = ExploreOptions & {
  readonly scale: number;
  readonly prior: number;
};

export type ExploreOptions = {
  readonly explore: string;
  readonly rate: number;
};

export const RANKING_DEFAULTS: RankingOptions = { scale: 5, prior: 1, explore: "ucb", rate: 1 };

export const RANKING_ABOUT: About<RankingOptions> = {
  scale: { meaning: "assumed vote scale: logits of a win for one unit of utility", above: 0 },
  prior: { meaning: "how far the told scores are believed; 0: not at all", min: 0 },
  explore: {
    meaning: "whom the favourite meets: who may yet be better, a draw by value, or anybody",
    oneOf: ["ucb", "softmax", "epsilon"],
  },
  rate: {
    meaning: "of ucb: standard deviations; softmax: temperature in logits; epsilon: share of duels",
    min: 0,
  },
};

export function rankingPolicy(pool: Pool, options: RankingOptions, ranker: Ranker): Policy {
  const { scale, prior } = options;
  const told = toldAt(pool);
  const headStart = (x: Float64Array) => told(x).map((score) => prior * scale * score);
  return {
    choose({ x, candidates, penalty }, random) {
      const ratings = ranker.rate(x);
      const logits = headStart(x).map((logit, k) => logit + ratings.mean[k]!);
      const value = (k: number) => logits[k]! - scale * (penalty?.[k] ?? 0);
      const favourite = argmax(candidates, value, random);
      const width = (k: number) => ratings.width(favourite, k);
      const second = challenger(favourite, candidates, value, width, options, random);
      return { pair: [favourite, second], values: logits.map((logit) => logit / scale) };
    },
    learn(feedback, random) {
      const { x } = feedback;
      const start = headStart(x);
      for (const comparison of comparisonsOf(feedback)) {
        if (comparison.weight === 0) continue;
        ranker.learn(x, comparison, start[comparison.a]! - start[comparison.b]!, random);
      }
    },
    snapshot: () => ({ models: pool.models, state: ranker.snapshot() }),
    restore: ({ models, state }) => ranker.restore(state, models),
  };
}

/**
 * Whom the favourite meets:
 *
 * - `ucb`: argmax_j value_j + rate * width(favourite, j), as MaxInP and CoLSTIM
 *   choose their second: who may yet turn out better. The favourite has width 0,
 *   so it meets itself once nobody may, and no duel is spent.
 * - `softmax`: j with probability in proportion to exp(value_j / rate).
 * - `epsilon`: with probability rate anybody else, otherwise the favourite itself.
 */
export function challenger(
  favourite: number,
  candidates: readonly number[],
  value: (k: number) => number,
  width: (k: number) => number,
  { explore, rate }: ExploreOptions,
  random: Random,
): number {
  const others = candidates.filter((k) => k !== favourite);
  if (others.length === 0) return favourite;
  switch (explore) {
    case "ucb": {
      const bound = (k: number) => value(k) + (k === favourite ? 0 : rate * width(k));
      return argmax(candidates, bound, random);
    }
    case "softmax":
      // argmax of value + Gumbel noise draws from the softmax.
      return argmax(candidates, (k) => value(k) + rate * random.gumbel(), random);
    case "epsilon":
      return random.uniform() < rate ? others[random.integer(others.length)]! : favourite;
    default:
      throw invalidValue(`explore is ${explore}`, "use ucb, softmax or epsilon");
  }
}
