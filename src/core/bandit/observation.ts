import {
  BIAS,
  type BlockPosterior,
  type Observation,
  POSITION,
  SHARED,
  SLOPE,
  TOLD,
} from "./block-posterior.ts";
import type { QueryContext } from "./query-context.ts";

/** The duel of a against b: its logit is s (utility_a - utility_b), plus the bias towards the answer shown first. */
export function duelObservation(
  posterior: BlockPosterior,
  { w, told }: QueryContext,
  a: number,
  b: number,
): Observation {
  const s = posterior.hypothesis.scale;
  const shared = new Float64Array(SHARED);
  shared[TOLD] = s * (told[a]! - told[b]!);
  shared[POSITION] = 1;
  const gap = posterior.value(a, w, told[a]!) - posterior.value(b, w, told[b]!);
  return {
    w,
    terms: [
      { model: a, factor: s },
      { model: b, factor: -s },
    ],
    shared,
    logit: s * gap + posterior.shared[POSITION]!,
  };
}

/**
 * Corrects a duel with logit d for ties, where a share r of the votes between equal
 * models has a winner. In Davidson's model the expected score, a tie being half a
 * win, is 1/2 + sinh(d/2) / (2 cosh(d/2) + nu), nu = 2 (1 - r) / r. At nu = 2 that is
 * exactly sigmoid(d/2), twice as certain as one vote; for any nu it is close to
 * sigmoid(r d) with weight 1/r. Without the correction, ties counted as half wins
 * would pull all models together, and the wins would not make up for it.
 */
export function withTies(observation: Observation, r: number): Observation {
  const { w, terms, shared, logit, kind } = observation;
  return {
    w,
    terms: terms.map(({ model, factor }) => ({ model, factor: r * factor })),
    shared: shared.map((value) => r * value),
    logit: r * logit,
    ...(kind && { kind: { ...kind, factors: kind.factors.map((value) => r * value) } }),
  };
}

/**
 * One stage of Plackett-Luce: `first` is preferred to all of `rest`. Its probability
 * is sigmoid(f_first - log sum_j exp f_j), a duel against the soft maximum of the
 * rest, which is linearised around the means: the softmax of the rest are the
 * weights. The answers are shown together, so there is no position bias.
 */
export function stageObservation(
  posterior: BlockPosterior,
  { w, told }: QueryContext,
  first: number,
  rest: readonly number[],
): Observation {
  const s = posterior.hypothesis.scale;
  const logits = rest.map((k) => s * posterior.value(k, w, told[k]!));
  const top = Math.max(...logits);
  const shares = logits.map((logit) => Math.exp(logit - top));
  const total = shares.reduce((sum, share) => sum + share, 0);
  const shared = new Float64Array(SHARED);
  shared[TOLD] = s * told[first]!;
  const terms = [{ model: first, factor: s }];
  rest.forEach((k, i) => {
    const share = shares[i]! / total;
    shared[TOLD]! -= s * share * told[k]!;
    terms.push({ model: k, factor: -s * share });
  });
  const logit = s * posterior.value(first, w, told[first]!) - (top + Math.log(total));
  return { w, terms, shared, logit };
}

/**
 * Probability that the first of `order` is preferred to the others. A stage is linear
 * only around the means, so with a wide posterior the probabilities of all models to
 * come first sum to more than 1 (four equal, unknown models get more than 1/4 each);
 * they are divided by their sum.
 */
export function firstPlaceProbability(
  posterior: BlockPosterior,
  context: QueryContext,
  order: readonly number[],
): number {
  const chances = order.map((first) => {
    const rest = order.filter((k) => k !== first);
    return posterior.probability(stageObservation(posterior, context, first, rest));
  });
  return chances[0]! / chances.reduce((sum, chance) => sum + chance, 0);
}

/**
 * A rating of one answer: the logit of a like is rho s utility_k + b, with the utility
 * relative to the mean of the pool. The ratio rho between the scales of likes and
 * votes is learned: the product is linearised around the means of both factors.
 */
export function ratingObservation(
  posterior: BlockPosterior,
  { w, told }: QueryContext,
  model: number,
): Observation {
  const s = posterior.hypothesis.scale;
  const rho = posterior.shared[SLOPE]!;
  const level = s * posterior.value(model, w, told[model]!);
  const shared = new Float64Array(SHARED);
  shared[TOLD] = rho * s * told[model]!;
  shared[BIAS] = 1;
  shared[SLOPE] = level;
  return {
    w,
    terms: [{ model, factor: rho * s }],
    shared,
    logit: rho * level + posterior.shared[BIAS]!,
  };
}
