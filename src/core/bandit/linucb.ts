import { axpy, dot, multiply, normalized, normIn, rankOne } from "../linalg/linalg.ts";
import { sigmoid } from "./btl.ts";
import { toldAt } from "./categories.ts";
import {
  type About,
  alignModels,
  argmax,
  comparisonsOf,
  type Feedback,
  type Policy,
  type Pool,
} from "./policy.ts";

/**
 * LinUCB (Li et al. 2010) on duels, for routers that learn from ratings of single
 * answers (MetaLLM, MixLLM): the winner counts as liked, the loser as disliked.
 */

/**
 * One arm of LinUCB: ridge regression of its reward on x, A = lambda I + sum w x x^T,
 * b = sum w r x, theta = A^-1 b, updated with one reward at a time. With u = A^-1 x
 * and q = x . u,
 *
 *   theta <- theta + w (r - theta . x) / (1 + w q) u,   A^-1 <- A^-1 - w / (1 + w q) u u^T.
 */
export class Ridge {
  readonly theta: Float64Array;
  readonly inverse: Float64Array;
  readonly #u: Float64Array;

  constructor(dimension: number, lambda: number) {
    this.theta = new Float64Array(dimension);
    this.inverse = new Float64Array(dimension * dimension);
    for (let i = 0; i < dimension; i++) this.inverse[i * dimension + i] = 1 / lambda;
    this.#u = new Float64Array(dimension);
  }

  update(x: Float64Array, reward: number, weight = 1): void {
    multiply(this.inverse, x, this.#u);
    const gain = weight / (1 + weight * dot(x, this.#u));
    axpy(gain * (reward - dot(this.theta, x)), this.#u, this.theta);
    rankOne(this.inverse, -gain, this.#u);
  }

  mean(x: Float64Array): number {
    return dot(this.theta, x);
  }

  /** sqrt(x . A^-1 x) */
  width(x: Float64Array): number {
    return normIn(this.inverse, x);
  }
}

export type LinUcbOptions = Readonly<Record<"alpha" | "lambda" | "prior" | "scale", number>>;

export const LINUCB_ABOUT: About<LinUcbOptions> = {
  alpha: {
    meaning: "confidence widths that are added to the mean of a model when choosing",
    min: 0,
  },
  lambda: { meaning: "regularisation of the ridge regression", above: 0 },
  prior: { meaning: "how far the told scores are trusted; 0 ignores them", min: 0 },
  scale: {
    meaning: "assumed vote scale, which turns told scores and penalties into win probabilities",
    above: 0,
  },
};

/**
 * Creates a LinUCB policy whose arms regress on the normalised query with `tags` of the
 * query appended. The arms regress what the told scores do not explain: the
 * expected reward of model k is sigmoid(prior * scale * (told_k - mean told)) +
 * theta_k . x, where the first part is its win probability against an average
 * opponent. A reward is a win probability, whose slope in utility is scale / 4 between
 * equal models: penalties are multiplied by that, and values are divided by it.
 */
export function linUcbPolicy(
  pool: Pool,
  { alpha, lambda, prior, scale }: LinUcbOptions,
  tags: (x: Float64Array) => Float64Array,
): Policy {
  const featuresOf = (x: Float64Array) => Float64Array.of(...normalized(x), ...tags(x));
  const { length: dimension } = featuresOf(pool.centroids[0]!);
  const arms = pool.models.map(() => new Ridge(dimension, lambda));
  const told = toldAt(pool);
  const expected = (x: Float64Array) => {
    const scores = told(x);
    const middle = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    return scores.map((score) => sigmoid(prior * scale * (score - middle)));
  };
  return {
    choose({ x, candidates, penalty }, random) {
      const features = featuresOf(x);
      const mean = expected(x).map((start, k) => start + arms[k]!.mean(features));
      const bonus = arms.map((arm) => alpha * arm.width(features));
      const value = (k: number) => mean[k]! - (scale / 4) * (penalty?.[k] ?? 0);
      // The first model is LinUCB's arm. The second has the largest upper bound, except that the
      // first counts without its bonus, so that duels end once no other model can be better.
      const first = argmax(candidates, (k) => value(k) + bonus[k]!, random);
      const bound = (k: number) => value(k) + (k === first ? 0 : bonus[k]!);
      const second = argmax(candidates, bound, random);
      return { pair: [first, second], values: mean.map((m) => ((m - 0.5) * 4) / scale) };
    },
    learn(feedback) {
      const features = featuresOf(feedback.x);
      const start = expected(feedback.x);
      for (const { model, reward, weight } of rewardsOf(feedback)) {
        arms[model]!.update(features, reward - start[model]!, weight);
      }
    },
    snapshot: () => ({
      models: pool.models,
      state: arms.map(({ theta, inverse }) => ({ theta: theta.slice(), inverse: inverse.slice() })),
    }),
    restore({ models, state }) {
      const before = state as readonly Pick<Ridge, "theta" | "inverse">[];
      alignModels(models, pool.models).forEach((k, i) => {
        const arm = before[k] ?? new Ridge(dimension, lambda);
        arms[i]!.theta.set(arm.theta);
        arms[i]!.inverse.set(arm.inverse);
      });
    },
  };
}

/** Converts feedback into likes (1) and dislikes (0) of single answers; both_bad dislikes both. */
export function rewardsOf(feedback: Feedback): { model: number; reward: number; weight: number }[] {
  const weight = feedback.weight ?? 1;
  if (feedback.kind === "rating") {
    return [{ model: feedback.model, reward: (1 + feedback.rating) / 2, weight }];
  }
  const bothBad = feedback.kind === "duel" && feedback.outcome === "both_bad";
  return comparisonsOf(feedback).flatMap(({ a, b, win }) => [
    { model: a, reward: bothBad ? 0 : win, weight },
    { model: b, reward: bothBad ? 0 : 1 - win, weight },
  ]);
}
