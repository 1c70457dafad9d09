import type { Random } from "../random/random.ts";
import { argmax } from "./policy.ts";

/**
 * What is believed about one query, ready to choose from: one component for each
 * hypothesis. Choosing is pure: an mixture and a generator in, a pair out.
 */
export interface UtilityMixture {
  readonly components: {
    weight: number;
    readonly scale: number;
    /** Expected utility of each model, and the variance of its own part. */
    readonly values: Float64Array;
    readonly variances: Float64Array;
    readonly toldVariance: number;
  }[];
  /** Expected utility of each model over all components. */
  readonly mean: Float64Array;
  /** Told scores relative to the pool's mean. */
  readonly told: Float64Array;
  readonly penalty?: Float64Array | undefined;
  readonly votes: number;
}

export interface PairRuleOptions {
  readonly alpha: number;
  readonly patience: number;
  readonly minGain: number;
}

/**
 * The pair with the largest f_i + f_j + alpha W_ij L_ij.
 *
 * W_ij is the sd of the difference of the two utilities, within the hypotheses
 * and between them: W_ij^2 = g_i + g_j + var_told (t_i - t_j)^2 + sum_e p_e (d_ei - d_ej)^2.
 *
 * L_ij, our addition, is how much of it votes can resolve. One vote carries
 * information q = s^2 W^2 / 4 about the difference in units of its variance, so
 * n votes remove the share n q / (1 + n q) of it; n, what the future holds, is
 * taken as a few votes and a share (`patience`) of those so far. With informative votes L
 * is 1 at once and this is the plain rule; with votes that are nearly coin flips
 * it does not pay for knowledge that would come too late.
 *
 * W is a distance, W_ij <= r_i + r_j with r_k the distance to the mean, and
 * L <= 1, so no pair is better than U_i + U_j, U_k = f_k + alpha r_k. Going
 * through the models by U lets most pairs of a large pool be skipped.
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
  const ahead = LEAST_AHEAD + patience * mixture.votes;

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
  // Against two answers of the leader: what would the duel promise more, per answer?
  const gain = (best - 2 * f[first]!) / 2;
  return gain <= minGain ? [leader, leader] : [leader, candidates[second]!];

  /** f counts half of each answer's price, but a duel pays both in full. */
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
    const information = (ahead * scale2 * W2) / 4;
    return alpha * Math.sqrt((W2 * information) / (1 + information));
  }
}

/**
 * Without looking ahead there is no duel, without a duel no vote, and told
 * scores that are wrong would be believed for ever (joust.test.ts).
 */
const LEAST_AHEAD = 3;

/** Two draws of all utilities from the belief, each plays its best: Thompson sampling. */
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

/** All utilities at once, from one of the components. */
function drawUtilities({ components, told }: UtilityMixture, random: Random): Float64Array {
  const component = pick(components, random.uniform());
  const trust = Math.sqrt(component.toldVariance) * random.normal();
  return component.values.map(
    (value, k) => value + trust * told[k]! + Math.sqrt(component.variances[k]!) * random.normal(),
  );
}

/** The one at share u of the total weight. */
export function pick<T extends { readonly weight: number }>(
  components: readonly T[],
  u: number,
): T {
  let rest = u;
  for (const component of components) {
    rest -= component.weight;
    if (rest < 0) return component;
  }
  return components.at(-1)!;
}
