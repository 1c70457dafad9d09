import type { Random } from "../../random/random.ts";
import { FEATURE_ABOUT, FEATURE_DEFAULTS } from "../features.ts";
import { LinearDuelModel, remapPosterior } from "../linear-duel.ts";
import { argmax, comparisonsOf, type PolicyKind } from "../policy.ts";
import { GaussianPosterior } from "../posterior.ts";

const DEFAULTS = {
  ...FEATURE_DEFAULTS,
  features: "category",
  scale: 3,
  duels: 50,
  epsilon: 0.1,
};

/**
 * Plays the largest posterior mean against the second largest, without regard to the
 * uncertainty. Two options make it a fair baseline. If the second best answered in every
 * round, regret would grow by half the gap for ever, so duels become rarer with the
 * number of votes. And a model that starts too low to be second would never be tried,
 * so some opponents are drawn at random.
 */
export const greedy: PolicyKind<typeof DEFAULTS> = {
  name: "greedy",
  summary: "duel between the two largest posterior means, less often as votes arrive",
  defaults: DEFAULTS,
  about: {
    ...FEATURE_ABOUT,
    scale: { meaning: "assumed vote scale", above: 0 },
    duels: {
      meaning: "after n votes there is a duel with probability duels / n, else a single answer",
      min: 0,
    },
    epsilon: {
      meaning: "share of duels in which the second model is drawn at random",
      min: 0,
      max: 1,
    },
  },
  create(pool, options) {
    const model = new LinearDuelModel(pool, options);
    const fresh = () => GaussianPosterior.independent(model.prior.mean, model.prior.sd);
    let posterior = fresh();
    let votes = 0;
    return {
      choose({ x, candidates, penalty }, random) {
        const values = model.values(posterior.mean, x);
        const value = (k: number) => values[k]! - (penalty?.[k] ?? 0);
        const best = argmax(candidates, value, random);
        return { pair: [best, opponent(best, candidates, value, votes, options, random)], values };
      },

      learn(feedback) {
        for (const { a, b, win, weight } of comparisonsOf(feedback)) {
          posterior.update(model.difference(feedback.x, a, b), win, weight);
          votes++;
        }
      },

      snapshot: () => {
        const { mean, covariance } = posterior.clone();
        return { models: pool.models, state: { mean, covariance, votes } satisfies State };
      },

      restore({ models, state }) {
        const past = state as State;
        posterior = remapPosterior(past, models, fresh(), pool, options.features);
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

/** Returns the opponent of the best model: the second best, a random model, or itself for a single answer. */
export function opponent(
  best: number,
  candidates: readonly number[],
  value: (k: number) => number,
  votes: number,
  { duels, epsilon }: Pick<typeof DEFAULTS, "duels" | "epsilon">,
  random: Random,
): number {
  const others = candidates.filter((k) => k !== best);
  if (others.length === 0 || random.uniform() * votes >= duels) return best;
  if (random.uniform() < epsilon) return others[random.integer(others.length)]!;
  return argmax(others, value, random);
}
