import { invalidValue } from "../../errors/joust-error.ts";
import { dotAt } from "../../linalg/linalg.ts";
import { minimize, type Smooth } from "../../linalg/minimize.ts";
import { sigmoid, softplus } from "../btl.ts";
import {
  createFeatures,
  FEATURE_ABOUT,
  FEATURE_DEFAULTS,
  type FeatureOptions,
} from "../features.ts";
import { argmax, type Hindsight, type PolicyKind, type Pool } from "../policy.ts";
import { createRounds } from "../rounds.ts";
import { stateless } from "./baselines.ts";

const OBJECTIVES = ["regret", "votes"] as const;

type BestThetaOptions = FeatureOptions & {
  readonly objective: string;
  readonly scale: number;
};

/**
 * The best coefficients of a feature map, known in advance: a learner that plays
 * argmax_a <theta, phi(x, a)> cannot have less regret than the best theta has, whatever
 * the votes. The difference from 0 is the fault of the features.
 *
 * `votes` maximizes the likelihood of infinitely many votes on every pair of models and
 * every query of the stream, which is what a learner from votes converges to. `regret` also
 * minimizes the regret itself; this has local minima, so its theta is the best of several
 * that were found, not a proven optimum.
 */
export const bestTheta: PolicyKind<BestThetaOptions> = {
  name: "best-theta",
  summary: "the best coefficients of the features, known in advance (simulations only)",
  defaults: { ...FEATURE_DEFAULTS, objective: "regret", scale: 3 },
  about: {
    ...FEATURE_ABOUT,
    objective: {
      meaning:
        "votes: fit all votes that could ever be cast; regret: minimize the regret over the stream",
      oneOf: OBJECTIVES,
    },
    scale: { meaning: "vote scale of the votes that are fitted", above: 0 },
  },
  needsHindsight: true,
  create(pool, options, hindsight) {
    if (!hindsight) {
      throw invalidValue(
        "best-theta needs the true utilities",
        "use best-theta in a simulation only",
      );
    }
    const features = createFeatures(pool, options);
    const d = features.dimension;
    const theta = bestCoefficients(pool, options, hindsight);
    return stateless(pool, ({ x, candidates }, random) => {
      const rows = features.rows(x);
      const k = argmax(candidates, (c) => dotAt(rows, c * d, theta, 0, d), random);
      return { pair: [k, k] };
    });
  },
};

function bestCoefficients(
  pool: Pool,
  options: BestThetaOptions,
  { stream }: Hindsight,
): Float64Array {
  const features = createFeatures(pool, options);
  const { models: K, dimension } = features;
  const past = createRounds(pool, features, options, features.priorSd);
  for (const { x } of stream) past.add(x, { a: 0, b: 0, win: 0.5, weight: 0 });
  const all = Int32Array.from(stream, (_, i) => i);
  const total = stream.reduce((sum, { count }) => sum + count, 0);
  const scores = new Float64Array(all.length * K);
  const byScore = new Float64Array(all.length * K);

  /**
   * Returns the mean of `loss` over the stream, plus a ridge penalty, as a function of
   * theta. `loss` reads the scores of query i from index `at` on and adds its derivatives
   * to `byScore`.
   */
  const meanOf =
    (loss: (i: number, at: number, weight: number) => number, ridge: number): Smooth =>
    (theta, gradient) => {
      past.phi.scores(theta, all, scores);
      byScore.fill(0);
      let value = 0;
      for (let i = 0; i < all.length; i++) value += loss(i, i * K, stream[i]!.count / total);
      for (let i = 0; i < dimension; i++) {
        value += (ridge * theta[i]! ** 2) / 2;
        gradient[i] = ridge * theta[i]!;
      }
      past.phi.addTransposed(byScore, all, gradient);
      return value;
    };

  const votes = meanOf((i, at, weight) => {
    const { utilities } = stream[i]!;
    let value = 0;
    for (let k = 1; k < K; k++) {
      for (let l = 0; l < k; l++) {
        const z = scores[at + k]! - scores[at + l]!;
        const win = sigmoid(options.scale * (utilities[k]! - utilities[l]!));
        value += weight * (win * softplus(-z) + (1 - win) * softplus(z));
        const pull = weight * (sigmoid(z) - win);
        byScore[at + k]! += pull;
        byScore[at + l]! -= pull;
      }
    }
    return value;
  }, 1e-6);

  // The regret of choosing model k with probability softmax_k(scores).
  const chosen = new Float64Array(K);
  const regret = meanOf((i, at, weight) => {
    const { utilities } = stream[i]!;
    let [top, sum, worth, best] = [-Infinity, 0, 0, -Infinity];
    for (let k = 0; k < K; k++) top = Math.max(top, scores[at + k]!);
    for (let k = 0; k < K; k++) {
      chosen[k] = Math.exp(scores[at + k]! - top);
      sum += chosen[k]!;
      best = Math.max(best, utilities[k]!);
    }
    for (let k = 0; k < K; k++) worth += (chosen[k]! / sum) * utilities[k]!;
    for (let k = 0; k < K; k++) {
      byScore[at + k] = -weight * (chosen[k]! / sum) * (utilities[k]! - worth);
    }
    return weight * (best - worth);
  }, 0);

  /** Regret of playing the argmax. */
  const played = (theta: Float64Array): number => {
    past.phi.scores(theta, all, scores);
    let value = 0;
    for (const [i, { utilities, count }] of stream.entries()) {
      const own = scores.subarray(i * K, (i + 1) * K);
      const k = own.indexOf(Math.max(...own));
      value += count * (Math.max(...utilities) - utilities[k]!);
    }
    return value / total;
  };

  const theta = new Float64Array(dimension);
  if (total === 0) return theta;
  minimize(votes, theta, 300);
  if (options.objective === "votes") return theta;
  let best = { theta, regret: played(theta) };
  // With larger scores the softmax is closer to the argmax; with smaller scores the regret has
  // wider valleys.
  for (const sharpness of [1, 4, 16, 64]) {
    const from = theta.map((value) => value * sharpness);
    for (let again = 0; again < 3; again++) {
      minimize(regret, from, 150);
      const found = played(from);
      if (found < best.regret) best = { theta: from.slice(), regret: found };
      for (let i = 0; i < dimension; i++) from[i]! *= 2;
    }
  }
  return best.theta;
}
