import type { Options } from "../core/bandit/policy.ts";
import type { Configured, Logged } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import {
  addDuelVote,
  type DuelVotes,
  evaluate,
  type LogEvaluation,
  type Target,
} from "./evaluate.ts";
import { type FindPolicy, type Fold, type FoldCounts, readState } from "./fold.ts";
import { History } from "./history.ts";
import { type Leaderboard, leaderboards, VoteCounts } from "./leaderboard.ts";
import { lastConfiguration, VoteSchedule } from "./vote-schedule.ts";

export interface ReplayOptions {
  readonly findPolicy: FindPolicy;
  /** A policy to replay with instead of the configured one. */
  readonly policy?: { readonly name: string; readonly kind: string; readonly options: Options };
  /** Replay only events logged up to this time, in milliseconds since 1970. */
  readonly until?: number | undefined;
  /** Called with the complete fold. */
  readonly onFolded?: ((fold: Fold) => void) | undefined;
}

/** The result of `joust replay`. */
export interface Replay {
  readonly router: string;
  readonly policy: string;
  readonly options: Options;
  readonly encoder: string;
  readonly position: number;
  readonly frozen: boolean;
  /** SHA-256 of the posterior. */
  readonly hash: string;
  /** Votes of the log by result; `void` counts those rolled back, excluded by a freeze, or of an excluded voter. */
  readonly votes: FoldCounts & { readonly void: number };
  /** The newest snapshot of the learner, and whether replaying to its position gives the same posterior. */
  readonly snapshot: Checked | null;
  readonly leaderboards: readonly Leaderboard[];
  readonly evaluation: LogEvaluation | null;
}

interface Checked {
  readonly position: number;
  readonly hash: string;
  readonly matches: boolean;
  /**
   * True if it was saved by an earlier version of Joust that learned in another way. The gateway learns the votes again
   * when it starts.
   */
  readonly outdated: boolean;
}

/** Folds the log of a router again from its beginning. Returns undefined if the router was not configured by `until`. */
export async function replay(
  store: Store,
  router: string,
  { findPolicy, policy, until, onFolded }: ReplayOptions,
): Promise<Replay | undefined> {
  const end =
    until === undefined ? await store.head(router) : await store.positionAt(router, until);
  const controls = await store.controls(router);
  const configuration = lastConfiguration(controls, end);
  if (!configuration) return undefined;
  const adapt = policy && ((event: Logged<Configured>) => withPolicy(event, policy));
  const duelVotes = new Map<string, DuelVotes>();
  const { categories, centroids } = configuration.pool;
  const counts = new VoteCounts(categories, centroids);
  let counted = 0;
  const history = new History(store, router, {
    findPolicy,
    snapshots: false,
    adapt,
    onVote: (vote, isLearned) => {
      counted++;
      if (isLearned) counts.add(vote);
      addDuelVote(duelVotes, vote);
    },
  });
  await history.replay(end);
  const { fold } = history;
  onFolded?.(fold);
  const targets: Target[] = [
    { name: configuration.policy },
    ...(policy ? [{ name: policy.name, adapt }] : []),
  ];
  const evaluation = await evaluate(store, router, targets, duelVotes, { findPolicy, until });
  return {
    router,
    policy: policy?.kind ?? configuration.policy,
    options: policy?.options ?? configuration.options,
    encoder: configuration.encoder,
    position: fold.position,
    frozen: new VoteSchedule(controls, end).isFrozen,
    hash: fold.hash(),
    votes: { ...fold.counts, void: history.votesSeen - counted },
    snapshot: policy ? null : await checkSnapshot(store, router, findPolicy, end),
    leaderboards: leaderboards(fold, counts),
    evaluation: evaluation ?? null,
  };
}

/** Folds the log up to the newest snapshot and compares the hashes. */
export async function checkSnapshot(
  store: Store,
  router: string,
  findPolicy: FindPolicy,
  until: number,
): Promise<Checked | null> {
  const stored = await store.snapshot(router, until);
  if (!stored) return null;
  const history = new History(store, router, { findPolicy, snapshots: false });
  await history.replay(stored.position);
  const { position, hash } = stored;
  const { fold } = history;
  return {
    position,
    hash,
    matches: fold.hash() === hash,
    outdated: isOutdated(stored.state, fold),
  };
}

/** False for a damaged snapshot. */
function isOutdated(snapshot: Uint8Array, fold: Fold): boolean {
  try {
    return !fold.learnsLike(readState(snapshot));
  } catch {
    return false;
  }
}

/** Whether a snapshot differs from the log although this version learned it. */
export function isDamaged(checked: Checked | null): boolean {
  return checked !== null && !checked.matches && !checked.outdated;
}

function withPolicy(
  configuration: Logged<Configured>,
  { kind, options }: NonNullable<ReplayOptions["policy"]>,
): Logged<Configured> {
  return { ...configuration, policy: kind, options };
}
