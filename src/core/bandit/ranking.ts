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
 * A method that only rates models: Eagle, the two rankings of RouteLLM, nearest neighbours,
 * clusters. These methods were designed for votes that are already collected, so they say which
 * model is best, but not which one it should duel. `rankingPolicy` adds the rest in the same way
 * for all of them, so that a comparison of the policies compares their ratings:
 *
 * - The favourite is the argmax of the logits; its opponent is the `challenger`.
 * - Told scores are a head start: the logit of a model on x is prior * scale * told(x)
 *   plus its rating, and ratings explain only what the told scores do not.
 * - Ratings are logits and penalties are utilities, so penalties are multiplied by
 *   `scale`, the assumed vote scale, and values are logits / scale.
 */
export interface Ranker {
  rate(x: Float64Array): Ratings;
  /** `offset` is the logit of a win of a according to the told scores. */
  learn(x: Float64Array, comparison: Comparison, offset: number, random: Random): void;
  snapshot(): unknown;
  /** `from` lists the models of the snapshot. */
  restore(state: unknown, from: readonly string[]): void;
}

/** One rating per model, in logits, and the uncertainty of their differences. */
export interface Ratings {
  readonly mean: Float64Array;
  /** Standard deviation of the difference of two ratings. */
  width(i: number, j: number): number;
}

export const RANKING_DEFAULTS = { scale: 5, prior: 1, explore: "ucb", rate: 1 };
export type RankingOptions = Readonly<typeof RANKING_DEFAULTS>;

export const RANKING_ABOUT: About<RankingOptions> = {
  scale: { meaning: "assumed vote scale: logits of a win per unit of utility", above: 0 },
  prior: { meaning: "how far the told scores are trusted; 0 ignores them", min: 0 },
  explore: {
    meaning:
      "how the opponent of the best model is chosen: the model that may still be better (ucb), at random by value (softmax), or uniformly and only in some rounds (epsilon)",
    oneOf: ["ucb", "softmax", "epsilon"],
  },
  rate: {
    meaning:
      "amount of exploration: standard deviations for ucb, temperature in logits for softmax, share of duels for epsilon",
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
 * Returns the opponent of the favourite:
 *
 * - `ucb`: argmax_j value_j + rate * width(favourite, j), as MaxInP and CoLSTIM choose
 *   their second model. The favourite has width 0, so it is its own opponent, and there
 *   is no duel, once no other model may be better.
 * - `softmax`: j with probability proportional to exp(value_j / rate).
 * - `epsilon`: with probability `rate` any other model, otherwise the favourite itself.
 */
export function challenger(
  favourite: number,
  candidates: readonly number[],
  value: (k: number) => number,
  width: (k: number) => number,
  { explore, rate }: Pick<RankingOptions, "explore" | "rate">,
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
      throw invalidValue(`explore is ${explore}`, "give explore one of ucb, softmax, epsilon");
  }
}
