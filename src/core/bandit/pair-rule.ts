import type { Random } from "../random/random.ts";
import { argmax } from "./policy.ts";

/**
 * The posterior of the utilities on one query: a mixture with one Gaussian component
 * per hypothesis. Choosing is pure: a mixture and a generator in, a pair out.
 */
export interface UtilityMixture {
  readonly components: {
    weight: number;
    readonly scale: number;
    /** Expected utility of each model, and the variance of its part w . theta_k. */
    readonly values: Float64Array;
    readonly variances: Float64Array;
    /** Variance of the coefficient of the told scores. */
    readonly toldVariance: number;
  }[];
  /** Expected utility of each model, over all components. */
  readonly mean: Float64Array;
  /** Told scores relative to the mean of the pool. */
  readonly told: Float64Array;
  readonly penalty?: Float64Array | undefined;
  /** Number of votes so far. */
  readonly votes: number;
}

export interface PairRuleOptions {
  readonly alpha: number;
  readonly patience: number;
  readonly minGain: number;
}

/**
 * Returns the pair with the largest f_i + f_j + alpha W_ij L_ij.
 *
 * W_ij is the standard deviation of the difference of the two utilities, within and
 * between hypotheses: W_ij^2 = g_i + g_j + var_told (t_i - t_j)^2 + sum_e p_e (d_ei - d_ej)^2.
 *
 * L_ij, our addition, is the share of W_ij that future votes can resolve. One vote
 * carries information q = s^2 W^2 / 4 about the difference, in units of its variance,
 * so n votes remove the share n q / (1 + n q) of the variance. The number n of future
 * votes is taken as a few votes plus a share (`patience`) of the votes so far. If votes
 * are informative, L is 1 and this is the plain rule; if votes are nearly coin flips,
 * the rule does not pay for knowledge that would come too late.
 *
 * W is a distance, so W_ij <= r_i + r_j, where r_k is the distance to the mean, and
 * L <= 1. Therefore no pair is better than U_i + U_j, U_k = f_k + alpha r_k. Visiting
 * the models in the order of U skips most pairs of a large pool.
 */
export function bestPair(
  mixture: UtilityMixture,
  candidates: readonly number[],
  { alpha, patience, minGain }: PairRuleOptions,
  random: Random,
): readonly [number, number] {
  const n = candidates.length;
  const f = new Float64Array(n);
  const own = new Float64Array(n);
  const bound = new Float64Array(n);
  let toldVariance = 0;
  let scale2 = 0;
  for (const component of mixture.components) {
    toldVariance += component.weight * component.toldVariance;
    scale2 += component.weight * component.scale ** 2;
  }
  for (let i = 0; i < n; i++) {
    const k = candidates[i]!;
    f[i] = mixture.mean[k]! - (mixture.penalty?.[k] ?? 0);
    let variance = 0;
    let between = toldVariance * mixture.told[k]! ** 2;
    for (const component of mixture.components) {
      variance += component.weight * component.variances[k]!;
      between += component.weight * (component.values[k]! - mixture.mean[k]!) ** 2;
    }
    own[i] = variance;
    bound[i] = f[i]! + alpha * Math.sqrt(variance + between);
  }
  const order = Array.from({ length: n }, (_, i) => i).sort((i, j) => bound[j]! - bound[i]!);
  const votesAhead = MIN_VOTES_AHEAD + patience * mixture.votes;

  let best = -Infinity;
  let first = 0;
  let second = 0;
  let ties = 0;
  for (let p = 0; p < n; p++) {
    const i = order[p]!;
    if (2 * bound[i]! < best) break;
    for (let r = p; r < n; r++) {
      const j = order[r]!;
      if (bound[i]! + bound[j]! < best) break;
      const value = f[i]! + f[j]! + (i === j ? 0 : bonus(i, j) - secondAnswer(i, j));
      if (value > best) {
        best = value;
        first = i;
        second = j;
        ties = 1;
      } else if (value === best && random.integer(++ties) === 0) {
        first = i;
        second = j;
      }
    }
  }
  if (f[second]! > f[first]!) [first, second] = [second, first];
  const leader = candidates[first]!;
  // The gain of the duel over two answers of the leader, per answer.
  const gain = (best - 2 * f[first]!) / 2;
  return gain <= minGain ? [leader, leader] : [leader, candidates[second]!];

  /** f contains half of the penalty of each answer, but a duel pays both in full. */
  function secondAnswer(i: number, j: number): number {
    const { penalty } = mixture;
    return penalty ? penalty[candidates[i]!]! + penalty[candidates[j]!]! : 0;
  }

  function bonus(i: number, j: number): number {
    const a = candidates[i]!;
    const b = candidates[j]!;
    let W2 = own[i]! + own[j]! + toldVariance * (mixture.told[a]! - mixture.told[b]!) ** 2;
    for (const { weight, values } of mixture.components) {
      const gap = values[a]! - values[b]! - (mixture.mean[a]! - mixture.mean[b]!);
      W2 += weight * gap * gap;
    }
    const information = (votesAhead * scale2 * W2) / 4;
    return alpha * Math.sqrt((W2 * information) / (1 + information));
  }
}

/**
 * Smallest number of future votes that is assumed. With 0 there would be no duel at first, so
 * no vote, and wrong told scores would be trusted for ever (joust.test.ts).
 */
const MIN_VOTES_AHEAD = 3;

/** Thompson sampling: draws all utilities twice from the posterior and returns the best model of each draw. */
export function sampledPair(
  mixture: UtilityMixture,
  candidates: readonly number[],
  random: Random,
): readonly [number, number] {
  const draw = () => {
    const utilities = drawUtilities(mixture, random);
    return argmax(candidates, (k) => utilities[k]! - (mixture.penalty?.[k] ?? 0), random);
  };
  return [draw(), draw()];
}

/** Draws all utilities from one component. */
function drawUtilities({ components, told }: UtilityMixture, random: Random): Float64Array {
  const component = pick(components, random.uniform());
  const toldError = Math.sqrt(component.toldVariance) * random.normal();
  return component.values.map(
    (value, k) =>
      value + toldError * told[k]! + Math.sqrt(component.variances[k]!) * random.normal(),
  );
}

/** Returns the item at which the cumulated weight exceeds u. The weights sum to 1. */
export function pick<T extends { readonly weight: number }>(items: readonly T[], u: number): T {
  let rest = u;
  for (const item of items) {
    rest -= item.weight;
    if (rest < 0) return item;
  }
  return items.at(-1)!;
}
