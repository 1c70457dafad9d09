import { dotAt } from "../../linalg/linalg.ts";
import {
  createFeatures,
  FEATURE_ABOUT,
  FEATURE_DEFAULTS,
  type FeatureOptions,
} from "../features.ts";
import { priorOf, remapCoefficients } from "../linear-duel.ts";
import {
  type About,
  alignModels,
  argmax,
  comparisonsOf,
  type Policy,
  type PolicyKind,
  type Pool,
} from "../policy.ts";
import { createRounds, type Rounds } from "../rounds.ts";
import { Chain, type Target } from "../sgld.ts";

export type ChainPolicyOptions = FeatureOptions & {
  readonly scale: number;
  readonly eta: number;
  readonly steps: number;
  readonly batch: number;
  readonly step: number;
};

export const CHAIN_DEFAULTS: ChainPolicyOptions = {
  ...FEATURE_DEFAULTS,
  sd: 5,
  scale: 3,
  eta: 1,
  steps: 5,
  batch: 128,
  step: 0.2,
};

export const CHAIN_ABOUT: About<ChainPolicyOptions> = {
  ...FEATURE_ABOUT,
  scale: {
    meaning: "assumed vote scale, which turns told scores and penalties into logits",
    above: 0,
  },
  eta: { meaning: "weight of a vote in the posterior", min: 0 },
  steps: { meaning: "Langevin steps per round", integer: true, min: 1 },
  batch: { meaning: "past rounds per Langevin step", integer: true, min: 1, max: 100_000 },
  step: { meaning: "length of a Langevin step; it diverges at 2", above: 0, below: 2 },
};

type FgtsOptions = ChainPolicyOptions & {
  readonly mu: number;
  readonly horizon: number;
  readonly cap: number;
  readonly exact: boolean;
};

/**
 * The bandit of the paper: two chains, each of which samples its own posterior and plays
 * its own argmax. Details that the paper leaves open are decided in sgld.ts.
 *
 * At the default mu the feel-good term has no visible effect: it moves theta by a
 * thousandth of its length, and the choices are those of `thompson` (a test compares
 * them).
 */
export const fgtsCdb: PolicyKind<FgtsOptions> = {
  name: "fgts-cdb",
  summary: "feel-good Thompson sampling for contextual dueling bandits, by two Langevin chains",
  source: "Li et al. 2024, as Algorithm 1 of LLM Routing with Dueling Feedback",
  defaults: { ...CHAIN_DEFAULTS, mu: -1, horizon: 720, cap: 1, exact: false },
  about: {
    ...CHAIN_ABOUT,
    mu: {
      meaning:
        "weight of the feel-good term; below 0 it is 1 / (10 e sqrt(horizon)), which is 1.4e-3 at horizon 720",
      min: -1,
    },
    horizon: { meaning: "expected number of rounds, T", above: 0 },
    cap: { meaning: "largest feel-good term of one round, b", min: 0 },
    exact: {
      meaning:
        "equation 2 of the paper to the letter: no cap, rounds without a duel kept, a^1 and a^2 in the order of the chains",
    },
  },
  create(pool, options) {
    const { mu, horizon, cap, exact } = options;
    const formula = 1 / (10 * Math.E * Math.sqrt(horizon));
    return createChains(pool, options, {
      mu: mu < 0 ? formula : mu,
      cap: exact ? Infinity : cap,
      exact,
    });
  },
};

/**
 * Algorithm 1, with these deviations:
 *
 * - A round is stored when its vote arrives. Rounds in which both chains played the same
 *   model have no vote and are dropped, with their feel-good terms.
 * - a^1 and a^2 of a stored round are the answers in the order shown, not the models of
 *   chains 1 and 2. The likelihood is the same; the feel-good terms of some rounds move
 *   to the other chain.
 * - A ranking is stored as one round per pair. The maximum is over the whole pool, even
 *   if fewer models could have answered.
 *
 * The first two are undone by `exact`. A vote that arrives without the object that held the
 * query's embedding, as in a gateway, keeps the order shown.
 */
export function createChains(
  pool: Pool,
  options: ChainPolicyOptions,
  { mu, cap, exact }: Pick<FgtsOptions, "mu" | "cap" | "exact">,
): Policy {
  const features = createFeatures(pool, options);
  const { models: K, dimension: d } = features;
  const { scale, eta } = options;
  const target: Target = { ...priorOf(features, options), eta, mu, cap };
  const chains = [new Chain(target, 1, options), new Chain(target, 2, options)] as const;
  let rounds = createRounds(pool, features, options, target.sd);
  /** The last pair of a query, in the order of the chains. */
  const played = new WeakMap<Float64Array, readonly [number, number]>();

  return {
    choose({ x, candidates, penalty }, random) {
      const rows = features.rows(x);
      const values = new Float64Array(K);
      const play = (chain: Chain): number => {
        const own = random.split(chain.j);
        chain.advance(rounds, own);
        const score = values.map((_, k) => dotAt(rows, k * d, chain.theta, 0, d));
        for (let k = 0; k < K; k++) values[k]! += score[k]! / scale / chains.length;
        return argmax(candidates, (k) => score[k]! - scale * (penalty?.[k] ?? 0), own);
      };
      const pair = [play(chains[0]), play(chains[1])] as const;
      if (exact) {
        const [a, b] = pair;
        if (a === b) rounds.add(x, { a, b, win: 0.5, weight: 0 });
        else played.set(x, pair);
      }
      return { pair, values };
    },

    learn(feedback) {
      for (const comparison of comparisonsOf(feedback)) {
        const { a, b, win, weight } = comparison;
        const [first, second] = played.get(feedback.x) ?? [];
        const flipped = exact && first === b && second === a;
        rounds.add(feedback.x, flipped ? { a: b, b: a, win: 1 - win, weight } : comparison);
      }
    },

    snapshot: () => ({
      models: pool.models,
      state: {
        theta: chains.map((chain) => chain.theta.slice()),
        x: rounds.x.slice(),
        votes: rounds.votes.slice(),
      } satisfies State,
    }),

    restore({ models, state }) {
      const past = state as State;
      chains.forEach((chain, i) => {
        const theta = past.theta[i]!;
        chain.theta.set(remapCoefficients(theta, models, target.mean, pool, options.features));
      });
      rounds = createRounds(pool, features, options, target.sd);
      addPast(rounds, past, alignModels(pool.models, models));
    },
  };
}

interface State {
  readonly theta: readonly Float64Array[];
  /** The rows of `Rounds`, one after another. */
  readonly x: Float64Array;
  readonly votes: Float64Array;
}

/** Adds the rounds of an earlier pool, except those of a model that is no longer in it (`now` is -1). */
function addPast(rounds: Rounds, { x, votes }: State, now: readonly number[]): void {
  const t = votes.length / rounds.votes.width;
  const size = x.length / t;
  for (let i = 0; i < t; i++) {
    const [a, b, win, weight] = votes.subarray(i * rounds.votes.width);
    const vote = { a: now[a!]!, b: now[b!]!, win: win!, weight: weight! };
    if (vote.a >= 0 && vote.b >= 0) rounds.add(x.slice(i * size, (i + 1) * size), vote);
  }
}
