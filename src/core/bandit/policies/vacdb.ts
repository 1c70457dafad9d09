import { dot, normIn } from "../../linalg/linalg.ts";
import type { Random } from "../../random/random.ts";
import { sigmoid } from "../btl.ts";
import {
  argmaxPair,
  type EstimateState,
  LINEAR_ABOUT,
  LINEAR_DEFAULTS,
  LinearDuelModel,
  LinearEstimate,
  type Scores,
} from "../linear-duel.ts";
import { comparisonsOf, type Policy, type PolicyKind, type Pool } from "../policy.ts";

const DEFAULTS = { ...LINEAR_DEFAULTS, c: 0.001, alpha: 0.05, delta: 0.1 };
type VacdbOptions = typeof DEFAULTS;

/**
 * Variance-aware contextual dueling bandit (algorithm 1 of Di et al. 2024). Layer l has
 * its own estimate, from the votes on pairs whose width was about 2^-l when they were
 * played, with weights that make these votes comparable:
 *
 *   w = 2^-l / |v|_l,  Sigma_l = 2^-2l I + sum w^2 v v^T,
 *   theta_l: 2^-2l kappa theta + sum w^2 (sigmoid(v . theta) - o) v = 0.
 *
 * Our deviations:
 * (1) theta_l is the one-pass estimate, with the prior of the told scores widened by
 *     2^l, and Var_l sums the residuals at the time of each vote.
 * (2) kappa, and with it the constant factor of the radius, is replaced by the tuned
 *     `c`, and the initial radius by the value of the formula. c = 1 eliminates no
 *     model in thousands of votes; the code of the authors has 2^-l sqrt(log T) as
 *     radius.
 * (3) The layer of a vote is found when it arrives: the first with |v|_l > 2^-l. That
 *     is the layer in which its pair was played, unless other votes came in between.
 *     The paper drops the votes of exploiting rounds; here they go to a deeper layer
 *     that can use them.
 * (4) Estimated utilities come from layer 0, an additional estimate over all votes,
 *     because every other layer has few votes.
 */
export const vacdb: PolicyKind<VacdbOptions> = {
  name: "vacdb",
  summary: "variance-aware layers of increasingly fine estimates, each of which eliminates models",
  source: "Di et al. 2024, Variance-aware regret bounds for stochastic contextual dueling bandits",
  defaults: DEFAULTS,
  about: {
    ...LINEAR_ABOUT,
    c: {
      meaning: "multiplier of the confidence radii; 1 is that of the paper with kappa = 1",
      min: 0,
    },
    alpha: {
      meaning: "width at which a pair is known well enough; there are ceil(log2(1/alpha)) layers",
      above: 0,
      max: 1,
    },
    delta: {
      meaning: "probability with which the guarantee of the paper may fail",
      above: 0,
      max: 1,
    },
  },
  create: layered,
};

/** The scores of a layer in one round. */
interface LayerScores extends Scores {
  /** beta_l */
  readonly radius: number;
}

/**
 * Chooses a pair by algorithm 1. A layer whose widths are all below alpha exploits; one
 * with a width above 2^-l explores; any other keeps the models that are not more than
 * 2^-l beta_l behind its best and passes them to the next layer. There are enough
 * layers, because the last has 2^-l <= alpha. The paper does not say which of the
 * uncertain pairs to explore; here it is the one that exploiting would prefer.
 */
function vacdbPair(
  layerScores: (l: number) => LayerScores,
  alpha: number,
  candidates: readonly number[],
  random: Random,
): readonly [number, number] {
  let active = candidates;
  for (let l = 1; ; l++) {
    const { f, width, radius } = layerScores(l);
    const value = (i: number, j: number) => f[i]! + f[j]! + radius * width(i, j);
    const unsure = (i: number, j: number) => width(i, j) > 2 ** -l;
    const widest = Math.max(...active.flatMap((i) => active.map((j) => width(i, j))));
    if (widest <= alpha) return argmaxPair(active, value, random);
    if (widest > 2 ** -l) {
      return argmaxPair(active, (i, j) => (unsure(i, j) ? value(i, j) : -Infinity), random);
    }
    const best = Math.max(...active.map((k) => f[k]!));
    active = active.filter((k) => f[k]! >= best - 2 ** -l * radius);
  }
}

/**
 * Returns beta_l of eq. 4.3: 2^-l (16 sqrt((8 Var + 18 log(4 (t+1)^2 L / delta)) log(4 t^2 L / delta))
 * + 6 log(4 t^2 L / delta) + 1), times `c`. The paper replaces Var by the number of
 * votes if 2^l is below 64 (1 / 4 kappa) sqrt(log(4 (t+1)^2 L / delta)), which in
 * practice is every layer; here Var is always the estimate, sum w^2 (o - p)^2.
 */
export function confidenceRadius(
  l: number,
  variance: number,
  t: number,
  layers: number,
  { c, delta }: Pick<VacdbOptions, "c" | "delta">,
): number {
  const now = Math.log((4 * t ** 2 * layers) / delta);
  const next = Math.log((4 * (t + 1) ** 2 * layers) / delta);
  return c * 2 ** -l * (16 * Math.sqrt((8 * variance + 18 * next) * now) + 6 * now + 1);
}

interface LayeredState {
  readonly votes: number;
  readonly layers: readonly { estimate: EstimateState; variance: number }[];
}

function layered(pool: Pool, options: VacdbOptions): Policy {
  const model = new LinearDuelModel(pool, options);
  const L = Math.max(1, Math.ceil(Math.log2(1 / options.alpha)));
  const alpha = Math.max(options.alpha, 2 ** -L); // so that the last layer decides, whatever the rounding of log2
  const fresh = (l: number) => {
    const sd = model.prior.sd.map((value) => value * 2 ** l);
    return { estimate: new LinearEstimate({ ...model.prior, sd }, options.lambda), variance: 0 };
  };
  const layers = Array.from({ length: L + 1 }, (_, l) => fresh(l));
  let votes = 0;

  function learnAt(l: number, v: Float64Array, win: number, weight: number): void {
    const layer = layers[l]!;
    layer.estimate.update(v, win, weight);
    layer.variance += weight * (win - sigmoid(dot(v, layer.estimate.theta))) ** 2;
  }

  return {
    choose(round, random) {
      const layerScores = (l: number) => {
        const { estimate, variance } = layers[l]!;
        const radius = confidenceRadius(l, variance, votes + 1, L, options);
        return { ...model.scores(estimate, round), radius };
      };
      const pair = vacdbPair(layerScores, alpha, round.candidates, random);
      return { pair, values: model.values(layers[0]!.estimate.theta, round.x) };
    },
    learn(feedback) {
      for (const { a, b, win, weight } of comparisonsOf(feedback)) {
        const v = model.difference(feedback.x, a, b);
        votes++;
        learnAt(0, v, win, weight);
        for (let l = 1; l <= L; l++) {
          const width = normIn(layers[l]!.estimate.Vinv, v);
          if (width <= 2 ** -l) continue;
          learnAt(l, v, win, weight * (2 ** -l / width) ** 2);
          break;
        }
      }
    },
    snapshot: () => ({
      models: pool.models,
      state: {
        votes,
        layers: layers.map(({ estimate, variance }) => ({
          estimate: estimate.snapshot(),
          variance,
        })),
      },
    }),
    restore({ models, state }) {
      const saved = state as LayeredState;
      votes = saved.votes;
      saved.layers.forEach(({ estimate, variance }, l) => {
        layers[l] = { ...fresh(l), variance };
        layers[l].estimate.restore(estimate, models, pool, options.features);
      });
    },
  };
}
