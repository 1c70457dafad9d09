import type { BlockPosterior } from "./block-posterior.ts";
import type { Pool } from "./policy.ts";
import type { VoteGroups } from "./vote-groups.ts";
import type { VoterKind } from "./voter-kinds.ts";

/**
 * Everything that `joust` knows and that a report is computed from. Reports are computed elsewhere
 * (policies/joust-report.ts), so that a change of theirs is no change of the policy: simulated runs stay valid.
 */
export interface ReportInput {
  readonly pool: Pool;
  /** The posteriors that choose, from which the fits start. */
  readonly posteriors: readonly BlockPosterior[];
  readonly groups: VoteGroups;
  /** Kinds of voters other than people. */
  readonly kinds: readonly VoterKind[];
  /** Told scores at a membership, relative to the mean of the pool. */
  readonly told: (w: Float64Array) => Float64Array;
  /** Told scores of each category, relative to the mean of the pool. */
  readonly toldByCategory: readonly Float64Array[];
  /** r: share of the votes that have a winner. */
  readonly decided: number;
  /** Whether a preference of voters for the answer shown first is estimated. */
  readonly position: boolean;
  /** P(preferred) - P(other preferred) per unit of utility of the posteriors that choose, at a vote scale. */
  readonly margin: (scale: number) => number;
  /** Factor from the unit of these posteriors to that of the reported values. */
  readonly unit: number;
}
