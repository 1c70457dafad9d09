import { invalidValue } from "../../errors/joust-error.ts";
import { cholesky, dotAt } from "../../linalg/linalg.ts";
import { minimize, type Smooth } from "../../linalg/minimize.ts";
import { sigmoid, softplus } from "../btl.ts";
import {
  createFeatures,
  FEATURE_ABOUT,
  FEATURE_DEFAULTS,
  type FeatureOptions,
  type Features,
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
 *
 * Raw metadata is a hundred times as large as the rest of a feature vector, so that thousands of steps
 * along theta itself do not reach the optimum. The steps are taken in coordinates in which the
 * likelihood has the curvature 1 in every direction at theta = 0; see `coordinatesOf`.
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

/** Keeps theta finite where the features of all models are equal. */
const RIDGE = 1e-6;

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
  const { spread, toTheta, toCoordinates } = coordinatesOf(features, stream);

  /**
   * Returns the mean of `loss` over the stream, plus a ridge penalty on theta o spread, as a
   * function of the coordinates of theta. `loss` reads the scores of query i from index `at` on
   * and adds its derivatives to `byScore`.
   */
  const meanOf =
    (loss: (i: number, at: number, weight: number) => number, ridge: number): Smooth =>
    (at, gradient) => {
      const theta = toTheta(at);
      past.phi.scores(theta, all, scores);
      byScore.fill(0);
      let value = 0;
      for (let i = 0; i < all.length; i++) value += loss(i, i * K, stream[i]!.count / total);
      gradient.fill(0);
      past.phi.addTransposed(byScore, all, gradient);
      for (let i = 0; i < dimension; i++) {
        value += (ridge * (theta[i]! * spread[i]!) ** 2) / 2;
        gradient[i]! += ridge * theta[i]! * spread[i]! ** 2;
      }
      toCoordinates(gradient);
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
  }, RIDGE);

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
  const played = (at: Float64Array): number => {
    past.phi.scores(toTheta(at), all, scores);
    let value = 0;
    for (const [i, { utilities, count }] of stream.entries()) {
      const own = scores.subarray(i * K, (i + 1) * K);
      const k = own.indexOf(Math.max(...own));
      value += count * (Math.max(...utilities) - utilities[k]!);
    }
    return value / total;
  };

  const likely = new Float64Array(dimension);
  if (total === 0) return likely;
  minimize(votes, likely, 300, 1e-13);
  if (options.objective === "votes") return toTheta(likely);
  let best = { at: likely, regret: played(likely) };
  // With larger scores the softmax is closer to the argmax; with smaller scores the regret has
  // wider valleys.
  for (const sharpness of [1, 4, 16, 64]) {
    const from = likely.map((value) => value * sharpness);
    for (let again = 0; again < 3; again++) {
      minimize(regret, from, 150);
      const found = played(from);
      if (found < best.regret) best = { at: from.slice(), regret: found };
      for (let i = 0; i < dimension; i++) from[i]! *= 2;
    }
  }
  return toTheta(best.at);
}

/**
 * Coordinates c of theta in which the Hessian of the likelihood at theta = 0 is the identity.
 *
 * With u = theta o spread, where spread_i is the standard deviation of feature i over the
 * models, it is
 *
 *   H = RIDGE I + K/4 sum_i weight_i sum_k v_ik v_ik^T,  v_ik = (phi_ik - mean_k phi_ik) / spread,
 *
 * because every pair of models adds a quarter of (phi_ik - phi_il)(phi_ik - phi_il)^T. With
 * H = L L^T the coordinates are c = L^T u.
 */
function coordinatesOf({ models: K, dimension: d, rows }: Features, stream: Hindsight["stream"]) {
  const total = stream.reduce((sum, { count }) => sum + count, 0);
  const spread = new Float64Array(d);
  const H = new Float64Array(d * d);
  for (const { x, count } of stream) {
    const phi = rows(x);
    for (let i = 0; i < d; i++) {
      let mean = 0;
      for (let k = 0; k < K; k++) mean += phi[k * d + i]! / K;
      for (let k = 0; k < K; k++) phi[k * d + i]! -= mean;
    }
    for (let k = 0; k < K; k++) {
      const v = phi.subarray(k * d, (k + 1) * d);
      for (let i = 0; i < d; i++) {
        const factor = (count / total) * v[i]!;
        const row = H.subarray(i * d, i * d + i + 1);
        for (let j = 0; j <= i; j++) row[j]! += factor * v[j]!;
      }
    }
  }
  for (let i = 0; i < d; i++) spread[i] = Math.sqrt(H[i * d + i]! / K) || 1;
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      const curvature = ((K / 4) * H[i * d + j]!) / (spread[i]! * spread[j]!);
      H[i * d + j] = H[j * d + i] = curvature + (i === j ? RIDGE : 0);
    }
  }
  const L = cholesky(H, d);
  return {
    spread,
    /** theta = (L^-T c) / spread */
    toTheta(c: Float64Array): Float64Array {
      const u = c.slice();
      for (let i = d - 1; i >= 0; i--) {
        u[i]! /= L[i * d + i]!;
        for (let j = 0; j < i; j++) u[j]! -= L[i * d + j]! * u[i]!;
      }
      return u.map((value, i) => value / spread[i]!);
    },
    /** Changes a derivative by theta into that by c: L^-1 (g / spread). */
    toCoordinates(g: Float64Array): void {
      for (let i = 0; i < d; i++) {
        const known = dotAt(L, i * d, g, 0, i);
        g[i] = (g[i]! / spread[i]! - known) / L[i * d + i]!;
      }
    },
  };
}
