import { dotAt } from "../../linalg/linalg.ts";
import type { Random } from "../../random/random.ts";
import {
  createFeatures,
  difference,
  FEATURE_ABOUT,
  FEATURE_DEFAULTS,
  type FeatureOptions,
} from "../features.ts";
import { priorOf, remapCoefficients } from "../linear-duel.ts";
import { argmax, comparisonsOf, type PolicyKind } from "../policy.ts";
import { GaussianPosterior } from "../posterior.ts";

type GreedyOptions = FeatureOptions & {
  readonly scale: number;
  readonly duels: number;
  readonly epsilon: number;
};

/**
 * Plays the largest posterior mean against the second largest, and never looks
 * at the uncertainty. Two settings keep it from being a strawman. Against a
 * second best in every round, regret grows by half their gap for ever, so duels
 * become rarer as votes come in; and a model that starts too low to be second
 * would never be tried, so some challengers are drawn.
 */
export const greedy: PolicyKind<GreedyOptions> = {
  name: "greedy",
  summary: "the largest posterior mean against the second largest, ever more rarely",
  defaults: { ...FEATURE_DEFAULTS, features: "category", scale: 3, duels: 50, epsilon: 0.1 },
  about: {
    ...FEATURE_ABOUT,
    scale: { meaning: "the vote scale that is assumed", above: 0 },
    duels: {
      meaning: "after n votes the best is challenged with probability duels / n, else it is alone",
      min: 0,
    },
    epsilon: {
      meaning: "share of challengers drawn at random instead of being the second best",
      min: 0,
      max: 1,
    },
  },
  create(pool, options) {
    const features = createFeatures(pool, options);
    const { models: K, dimension: d } = features;
    const { scale } = options;
    const prior = priorOf(features, options);
    let posterior = GaussianPosterior.independent(prior.mean, prior.sd);
    let votes = 0;
    return {
      choose({ x, candidates, penalty }, random) {
        const rows = features.rows(x);
        const values = Float64Array.from(
          { length: K },
          (_, k) => dotAt(rows, k * d, posterior.mean, 0, d) / scale,
        );
        const value = (k: number) => values[k]! - (penalty?.[k] ?? 0);
        const best = argmax(candidates, value, random);
        return { pair: [best, opponent(best, candidates, value, votes, options, random)], values };
      },

      learn(feedback) {
        for (const { a, b, win, weight } of comparisonsOf(feedback)) {
          posterior.update(difference(features.rows(feedback.x), d, a, b), win, weight);
          votes++;
        }
      },

      snapshot: () => {
        const { mean, covariance } = posterior.clone();
        return { models: pool.models, state: { mean, covariance, votes } satisfies State };
      },

      restore({ models, state }) {
        const past = state as State;
        const fresh = GaussianPosterior.independent(prior.mean, prior.sd);
        const remap = (old: Float64Array, start: Float64Array) =>
          remapCoefficients(old, models, start, pool, options.features);
        posterior = new GaussianPosterior(
          remap(past.mean, fresh.mean),
          remap(past.covariance, fresh.covariance),
        );
        votes = past.votes;
      },
    };
  },
};

interface State {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
  readonly votes: number;
}

/** Whom the best model meets: itself, the second best, or anybody else. */
export function opponent(
  best: number,
  candidates: readonly number[],
  value: (k: number) => number,
  votes: number,
  { duels, epsilon }: Pick<GreedyOptions, "duels" | "epsilon">,
  random: Random,
): number {
  const others = candidates.filter((k) => k !== best);
  if (others.length === 0 || random.uniform() * votes >= duels) return best;
  if (random.uniform() < epsilon) return others[random.integer(others.length)]!;
  return argmax(others, value, random);
}
