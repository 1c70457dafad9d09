import type { Options } from "../core/bandit/policy.ts";
import type { Configured, Logged } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import {
  collectVerdict,
  evaluate,
  type LogEvaluation,
  type Target,
  type Verdicts,
} from "./evaluate.ts";
import type { Fold, FoldCounts, Kinds } from "./fold.ts";
import { History } from "./history.ts";
import { type Leaderboard, leaderboards, VoteCounts } from "./leaderboard.ts";
import { lastConfiguration, Script } from "./script.ts";

export interface ReplayOptions {
  readonly kinds: Kinds;
  /** Another policy than the one that was configured. */
  readonly policy?: { readonly name: string; readonly kind: string; readonly options: Options };
  /** Only what was logged by this time: milliseconds since 1970. */
  readonly until?: number | undefined;
  /** Called when all is in it. */
  readonly onFolded?: ((fold: Fold) => void) | undefined;
}

/** What `joust replay` tells. */
export interface Replay {
  readonly router: string;
  readonly policy: string;
  readonly options: Options;
  readonly encoder: string;
  readonly position: number;
  readonly frozen: boolean;
  /** SHA-256 of the posterior. */
  readonly hash: string;
  /** Of all votes in the log, what became of them; `void` were rolled back, forgotten or frozen out. */
  readonly votes: FoldCounts & { readonly void: number };
  /** The learner's newest snapshot, and whether folding gives the same there. */
  readonly snapshot: Checked | null;
  readonly leaderboards: readonly Leaderboard[];
  readonly evaluation: LogEvaluation | null;
}

interface Checked {
  readonly position: number;
  readonly hash: string;
  readonly matches: boolean;
}

/** Folds a router's log again from its beginning. Undefined where it was never configured by then. */
export async function replay(
  store: Store,
  router: string,
  { kinds, policy, until, onFolded }: ReplayOptions,
): Promise<Replay | undefined> {
  const end =
    until === undefined ? await store.head(router) : await store.positionAt(router, until);
  const controls = await store.controls(router);
  const configuration = lastConfiguration(controls, end);
  if (!configuration) return undefined;
  const adapt = policy && ((event: Logged<Configured>) => withPolicy(event, policy));
  const verdicts = new Map<string, Verdicts>();
  const { categories, centroids } = configuration.pool;
  const counts = new VoteCounts(categories, centroids);
  let counted = 0;
  const history = new History(store, router, {
    kinds,
    snapshots: false,
    adapt,
    onVote: (vote) => {
      counted++;
      counts.add(vote);
      collectVerdict(verdicts, vote);
    },
  });
  await history.replay(end);
  const { fold } = history;
  onFolded?.(fold);
  const targets: Target[] = [
    { name: configuration.policy },
    ...(policy ? [{ name: policy.name, adapt }] : []),
  ];
  const evaluation = await evaluate(store, router, targets, verdicts, { kinds, until: end });
  return {
    router,
    policy: policy?.kind ?? configuration.policy,
    options: policy?.options ?? configuration.options,
    encoder: configuration.encoder,
    position: fold.position,
    frozen: new Script(controls, end).frozen,
    hash: fold.hash(),
    votes: { ...fold.counts, void: history.votesSeen - counted },
    snapshot: policy ? null : await checkSnapshot(store, router, kinds, end),
    leaderboards: leaderboards(fold, counts),
    evaluation: evaluation ?? null,
  };
}

/** Folds up to where the learner's newest snapshot is, and compares. */
async function checkSnapshot(
  store: Store,
  router: string,
  kinds: Kinds,
  until: number,
): Promise<Checked | null> {
  const stored = await store.snapshot(router, until);
  if (!stored) return null;
  const history = new History(store, router, { kinds, snapshots: false });
  await history.replay(stored.position);
  const { position, hash } = stored;
  return { position, hash, matches: history.fold.hash() === hash };
}

function withPolicy(
  configuration: Logged<Configured>,
  { kind, options }: NonNullable<ReplayOptions["policy"]>,
): Logged<Configured> {
  return { ...configuration, policy: kind, options };
}
