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
    /** Share of the coming queries on which a vote improves the estimates; see `BlockPosterior.reach`. */
    readonly reach: number;
    /** Whether the hypothesis takes the told scores as informative. */
    readonly trustsTold: boolean;
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
  readonly horizon: number;
  readonly minGain: number;
}

/**
 * Returns the leader, which is the model with the largest f, and the challenger whose votes are
 * worth most; the leader twice if no duel is worth more than `minGain`.
 *
 * The difference between leader and challenger has the mean delta and the variance
 * W^2 = sum_e p_e (g_ei + g_ej + var_told (t_i - t_j)^2 + (d_ei - d_ej)^2), within and between
 * hypotheses. A vote carries the information q = s^2 W^2 / 4 about it, in units of its variance,
 * so n votes move the mean by a standard deviation of sd_n, sd_n^2 = W^2 n q / (1 + n q).
 * If the challenger overtakes the leader, each later decision gains, in expectation
 * E max(0, N(-delta, sd_n^2)). H decisions profit, so one of the n votes is worth
 *
 *   V = max_n (H - n) E max(0, N(-delta, sd_n^2)) / n - delta / 2,
 *
 * where delta / 2 is the price of showing the challenger's answer beside the leader's.
 *
 * H = (horizon + votes / 2) * reach. The number of coming decisions is not known; a router
 * that has been used for long is assumed to be used for longer. The reach of a vote is the share
 * of these decisions for which it is informative. A vote reduces the variance within a hypothesis
 * only as far as categories are correlated, but all of the variance between hypotheses, because
 * these are about all categories (docs/decisions/0028-value-of-a-vote.md).
 */
export function mostValuablePair(
  mixture: UtilityMixture,
  candidates: readonly number[],
  { horizon, minGain }: PairRuleOptions,
  random: Random,
): readonly [number, number] {
  const leader = leaderOf(mixture, candidates, random);
  const { components, mean, told, penalty } = isAudit(mixture, random)
    ? withoutTrust(mixture)
    : mixture;
  const decisions = horizon + FUTURE_SHARE * mixture.votes;
  let scale2 = 0;
  for (const { weight, scale } of components) scale2 += weight * scale ** 2;
  let best = minGain;
  let second = leader;
  let ties = 0;
  for (const k of candidates) {
    if (k === leader) continue;
    const lead = mean[leader]! - mean[k]!;
    const toldGap2 = (told[leader]! - told[k]!) ** 2;
    let W2 = 0;
    let shared = 0;
    for (const { weight, values, variances, toldVariance, reach } of components) {
      const own = variances[leader]! + variances[k]!;
      const gap = values[leader]! - values[k]! - lead;
      const between = toldVariance * toldGap2 + gap * gap;
      W2 += weight * (own + between);
      shared += weight * (reach * own + between);
    }
    if (W2 === 0) continue;
    // A duel pays the penalties of both answers in full, a single answer that of the leader.
    const delta = lead - (penalty ? penalty[leader]! - penalty[k]! : 0);
    const price = (delta + (penalty ? penalty[leader]! + penalty[k]! : 0)) / 2;
    const H = (decisions * shared) / W2;
    if (H * expectedGain(delta, Math.sqrt(W2)) - price < best) continue;
    const gain = worthOfVote(delta, W2, (scale2 * W2) / 4, H) - price;
    if (gain > best) {
      best = gain;
      second = k;
      ties = 1;
    } else if (gain === best && ties > 0 && random.integer(++ties) === 0) {
      second = k;
    }
  }
  return [leader, second];
}

/**
 * Whether this duel checks the told scores. The value of a vote under all hypotheses hardly
 * ever takes a model with a low told score as challenger. If the scores are wrong, such a model may be
 * the best, and votes on models with high scores alone do not show it. Therefore some challengers are
 * chosen as if the scores were worthless: with the probability sqrt(p) / (1 + votes / AUDITED_VOTES),
 * p being the posterior probability that they are (docs/decisions/0033-audits-of-told-scores.md).
 */
function isAudit({ components, votes }: UtilityMixture, random: Random): boolean {
  const p = distrust(components);
  if (p === 0 || p === 1) return false;
  return random.uniform() < Math.sqrt(p) / (1 + votes / AUDITED_VOTES);
}

const AUDITED_VOTES = 10;

/** The probability that the told scores are worthless; exactly 1 if no score is told. */
function distrust(components: UtilityMixture["components"]): number {
  if (components.every(({ trustsTold }) => !trustsTold)) return 1;
  let p = 0;
  for (const { weight, trustsTold } of components) if (!trustsTold) p += weight;
  return p;
}

/** The mixture of the hypotheses that the told scores are worthless. */
function withoutTrust(mixture: UtilityMixture): UtilityMixture {
  const p = distrust(mixture.components);
  const components = mixture.components
    .filter(({ trustsTold }) => !trustsTold)
    .map((component) => ({ ...component, weight: component.weight / p }));
  const mean = new Float64Array(mixture.mean.length);
  for (const { weight, values } of components) {
    for (let k = 0; k < mean.length; k++) mean[k]! += weight * values[k]!;
  }
  return { ...mixture, components, mean };
}

/** Decisions that are expected to come, per vote so far. */
const FUTURE_SHARE = 0.5;

/** The candidate with the largest f. Of equal ones it is the least certain, because its votes say most. */
function leaderOf(
  { components, mean, penalty }: UtilityMixture,
  candidates: readonly number[],
  random: Random,
): number {
  const f = (k: number) => mean[k]! - (penalty?.[k] ?? 0);
  let top = -Infinity;
  for (const k of candidates) top = Math.max(top, f(k));
  const leaders = candidates.filter((k) => f(k) === top);
  if (leaders.length === 1) return leaders[0]!;
  const variance = (k: number) =>
    components.reduce((sum, { weight, variances }) => sum + weight * variances[k]!, 0);
  return argmax(leaders, variance, random);
}

/** max_n (H - n) E max(0, N(-delta, sd_n^2)) / n over powers of 2. The values rise to their maximum and then fall. */
function worthOfVote(delta: number, W2: number, q: number, H: number): number {
  let worth = 0;
  for (let n = 1; n < H; n *= 2) {
    const sd = Math.sqrt((W2 * n * q) / (1 + n * q));
    const value = ((H - n) * expectedGain(delta, sd)) / n;
    if (value < worth) break;
    worth = value;
  }
  return worth;
}

/**
 * E max(0, N(-delta, sd^2)) = sd (phi(z) - z P(N(0, 1) > z)), z = delta / sd, with Sampford's bound
 * P(N(0, 1) > z) < 4 phi(z) / (3 z + sqrt(z^2 + 8)). The result is at most 4% too small. The bound holds for
 * z >= 0; in an audit the challenger may be the better one, and E max(0, X) = E X + E max(0, -X).
 */
export function expectedGain(delta: number, sd: number): number {
  if (delta < 0) return -delta + expectedGain(-delta, sd);
  const z = delta / sd;
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  return sd * density * (1 - (4 * z) / (3 * z + Math.sqrt(z * z + 8)));
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
