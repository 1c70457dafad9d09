import { sigmoid } from "../src/core/bandit/btl.ts";
import type { Origin, Outcome } from "../src/core/bandit/policy.ts";
import type { Random } from "../src/core/random/random.ts";

/** A simulated judge. Its logit is scale times that of people, plus its biases. */
export interface SimulatedJudge {
  readonly scale: number;
  /** Logit by which the answer shown first is favoured. */
  readonly first: number;
  /** Logit per unit of the logarithm of the ratio of the lengths. */
  readonly length: number;
  /** Logit by which answers of models of its own family are favoured. */
  readonly own: number;
  /** Standard deviation of its unexplained taste, in units of utility. */
  readonly taste: number;
}

/** A simulated signal: an answer is liked with the logit slope * (utility - mean utility) + taste. */
export interface SimulatedSignal {
  /** Share of the rounds in which the signal is observed. */
  readonly share: number;
  readonly slope: number;
  /** Standard deviation of the part that depends on the model alone and has nothing to do with quality. */
  readonly taste: number;
}

/** Traits of the models that bias judges and signals. They are drawn once per run. */
interface ModelTraits {
  /** Mean logarithm of the length of an answer. */
  readonly lengths: readonly number[];
  /** Whether the model is of the judge's family. */
  readonly own: readonly number[];
  /** Standard normal; the judge's and the signal's taste are multiples of it. */
  readonly taste: readonly number[];
}

export function drawTraits(K: number, random: Random): ModelTraits {
  const all = Array.from({ length: K }, (_, k) => k);
  const family = new Set(random.shuffle(all).slice(0, Math.ceil(K / 4)));
  return {
    lengths: all.map(() => 0.5 * random.normal()),
    own: all.map((k) => Number(family.has(k))),
    taste: all.map(() => random.normal()),
  };
}

/** The judge's vote on a pair in the order shown. */
export function judgeVote(
  { scale, first, length, own, taste }: SimulatedJudge,
  traits: ModelTraits,
  [a, b]: readonly [number, number],
  { utilities, voteScale }: { readonly utilities: Float64Array; readonly voteScale: number },
  random: Random,
): { readonly outcome: Outcome; readonly origin: Origin } {
  const lengthOf = (k: number) => traits.lengths[k]! + 0.4 * random.normal();
  const origin = {
    kind: "judge:simulated",
    length: lengthOf(a) - lengthOf(b),
    own: traits.own[a]! - traits.own[b]!,
  };
  const seen = (k: number) => utilities[k]! + taste * traits.taste[k]!;
  const bias = first + length * origin.length + own * origin.own;
  const p = sigmoid(scale * voteScale * (seen(a) - seen(b)) + bias);
  return { outcome: random.uniform() < p ? "a" : "b", origin };
}

/** The rating that a signal amounts to: 1 or -1. */
export function signalRating(
  { slope, taste }: SimulatedSignal,
  traits: ModelTraits,
  model: number,
  utilities: Float64Array,
  random: Random,
): number {
  const middle = utilities.reduce((sum, u) => sum + u / utilities.length, 0);
  const like = sigmoid(slope * (utilities[model]! - middle) + taste * traits.taste[model]!);
  return random.uniform() < like ? 1 : -1;
}
