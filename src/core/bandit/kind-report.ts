import type { BlockPosterior } from "./block-posterior.ts";
import { COEFFICIENTS, FIRST, LENGTH, OWN, SCALE } from "./kind-beliefs.ts";
import type { KindVotes } from "./kind-fit.ts";
import type { VoterKindEstimate } from "./policy.ts";
import { decidedShare, type VoterKind } from "./voter-kinds.ts";

/** The votes of the kinds on the K models of the pool, for a fit. Votes on former models are left out. */
export function votesOfKinds(kinds: readonly VoterKind[], K: number): KindVotes[] {
  return kinds.map(({ name, groups, duels, ties }) => ({
    name,
    groups: groups.all().filter(({ a, b }) => a < K && b < K),
    decided: decidedShare(duels, ties),
  }));
}

/** The coefficients and tastes of all kinds in the order of `KindFit`, for a number of models. */
export function coefficientsOf({ kinds }: BlockPosterior, models: number): Float64Array {
  const each = COEFFICIENTS + models;
  const out = new Float64Array((kinds?.means.length ?? 0) * each);
  kinds?.means.forEach((means, c) => {
    out.set(means, c * each);
    kinds.tastes.forEach((tastes, k) => {
      out[c * each + COEFFICIENTS + k] = tastes[c]!;
    });
  });
  return out;
}

/** Describes the kinds by the estimates of their coefficients. */
export function kindEstimates(
  kinds: readonly VoterKind[],
  coefficient: (kind: number, index: number) => { mean: number; sd: number },
): VoterKindEstimate[] {
  return kinds.map(({ name, duels, ratings }, c) => ({
    kind: name,
    votes: duels + ratings,
    scale: coefficient(c, SCALE),
    first: coefficient(c, FIRST),
    ...(duels > 0 && { length: coefficient(c, LENGTH), own: coefficient(c, OWN) }),
  }));
}
