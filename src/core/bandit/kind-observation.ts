import { type BlockPosterior, type Observation, SHARED, TOLD } from "./block-posterior.ts";
import { COEFFICIENTS, FIRST, LENGTH, OWN, SCALE } from "./kind-beliefs.ts";
import type { Origin } from "./policy.ts";
import type { QueryContext } from "./query-context.ts";

/** A vote of a kind of voters: which kind, its traits, and the smallest variance that its scale may have. */
export interface KindVote {
  readonly index: number;
  readonly traits: readonly [length: number, own: number];
  readonly leastVariance: number;
}

/** The traits of a vote. The effect of length saturates: beyond a ratio of e^2 it counts as that ratio. */
export function traitsOf({ length = 0, own = 0 }: Origin): readonly [number, number] {
  return [Math.max(-MOST_LENGTH, Math.min(MOST_LENGTH, length)), own];
}

const MOST_LENGTH = 2;

/**
 * A vote of a kind on the duel of a against b, or its rating of a if b is undefined. The product of
 * the scale and the utilities is linearised around the means of both.
 */
export function kindObservation(
  posterior: BlockPosterior,
  { w, told }: QueryContext,
  { index, traits: [length, own], leastVariance }: KindVote,
  a: number,
  b?: number,
): Observation {
  const s = posterior.hypothesis.scale;
  const { means, tastes } = posterior.kinds!;
  const coefficients = means[index]!;
  const scale = coefficients[SCALE]!;
  const seen = (k: number) => posterior.value(k, w, told[k]!) + tastes[k]![index]!;
  const level = s * (seen(a) - (b === undefined ? 0 : seen(b)));
  const shared = new Float64Array(SHARED);
  shared[TOLD] = scale * s * (told[a]! - (b === undefined ? 0 : told[b]!));
  const factors = new Float64Array(COEFFICIENTS);
  factors[SCALE] = level;
  factors[FIRST] = 1;
  factors[LENGTH] = length;
  factors[OWN] = own;
  let logit = 0;
  for (let i = 0; i < COEFFICIENTS; i++) logit += factors[i]! * coefficients[i]!;
  const terms = [{ model: a, factor: scale * s }];
  if (b !== undefined) terms.push({ model: b, factor: -scale * s });
  return { w, terms, shared, logit, kind: { index, factors, leastVariance } };
}
