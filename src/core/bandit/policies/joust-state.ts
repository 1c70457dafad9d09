import { isDeepStrictEqual } from "node:util";
import type { BlockPosterior, Hypothesis } from "../block-posterior.ts";
import { KindBeliefs, type KindBeliefsState } from "../kind-beliefs.ts";
import type { VoteGroupsState } from "../vote-groups.ts";
import type { VoterKindState } from "../voter-kinds.ts";

/** The state in snapshots, whose field names must not change. */
export interface JoustState {
  readonly categories: readonly string[];
  readonly votes: number;
  readonly ties: number;
  /** Pairs of a model and its number of duels. */
  readonly newcomers: readonly (readonly [number, number])[];
  readonly beliefs: readonly BeliefState[];
  /** Kinds of voters other than people; absent if there are none. */
  readonly kinds?: readonly VoterKindState[];
}

/** The posterior under one hypothesis. */
interface BeliefState {
  readonly hypothesis: Hypothesis;
  readonly means: readonly Float64Array[];
  readonly covariances: readonly Float64Array[];
  readonly shared: Float64Array;
  readonly sharedVariance: Float64Array;
  readonly evidence: number;
  readonly kinds?: KindBeliefsState;
}

/** The part of a snapshot that only reports depend on. */
export interface JoustReportState extends VoteGroupsState {
  readonly kinds?: readonly VoteGroupsState[];
}

export function beliefOf(posterior: BlockPosterior): BeliefState {
  const copy = (arrays: readonly Float64Array[]) => arrays.map((array) => array.slice());
  const { hypothesis, evidence, kinds } = posterior;
  return {
    hypothesis,
    means: copy(posterior.means),
    covariances: copy(posterior.covariances),
    shared: posterior.shared.slice(),
    sharedVariance: posterior.sharedVariance.slice(),
    evidence,
    ...(kinds && {
      kinds: {
        means: copy(kinds.means),
        variances: copy(kinds.variances),
        tastes: copy(kinds.tastes),
        cross: copy(kinds.cross),
        covariances: copy(kinds.covariances),
      },
    }),
  };
}

/** Restores a belief into a posterior that has its prior. `from` is the saved index of each model, -1 if it is new. */
export function restoreBelief(
  posterior: BlockPosterior,
  saved: BeliefState,
  from: readonly number[],
): void {
  from.forEach((old, k) => {
    if (old < 0) return;
    posterior.means[k]!.set(saved.means[old]!);
    posterior.covariances[k]!.set(saved.covariances[old]!);
  });
  posterior.shared.set(saved.shared);
  posterior.sharedVariance.set(saved.sharedVariance);
  posterior.evidence = saved.evidence + (posterior.hypothesis.logPrior - saved.hypothesis.logPrior);
  const { kinds } = posterior;
  if (!kinds || !saved.kinds) return;
  const { means, variances } = saved.kinds;
  const aligned = (own: readonly Float64Array[], other: readonly Float64Array[]) =>
    own.map((fresh, k) => other[from[k]!] ?? fresh);
  posterior.kinds = new KindBeliefs({
    means,
    variances,
    tastes: aligned(kinds.tastes, saved.kinds.tastes),
    cross: aligned(kinds.cross, saved.kinds.cross),
    covariances: aligned(kinds.covariances, saved.kinds.covariances),
  });
}

/** Whether two hypotheses assume the same, whatever their prior probabilities are, which differ between versions. */
export function isSame(a: Hypothesis, b: Hypothesis): boolean {
  return isDeepStrictEqual({ ...a, logPrior: 0 }, { ...b, logPrior: 0 });
}
