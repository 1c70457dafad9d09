import type { Store } from "../store/store.ts";
import type { Timers } from "../store/timers.ts";
import type { Fold } from "./fold.ts";
import type { Lease } from "./lease.ts";

/**
 * Saves snapshots of a fold every `saveMs`, and earlier after many votes, so that a node whose lives
 * are shorter than `saveMs` does not fold the same votes at every start. Saving uses at most a
 * twentieth of the time.
 */
export class SnapshotSaver {
  readonly #options: SnapshotSaverOptions;
  /** Position and number of votes of the last saved snapshot. */
  #position: number;
  #votes: number;
  #savedAt: number;
  /** Time after the last save in which nothing is saved. */
  #rest = 0;

  /** `start` is the fold of the snapshot that learning starts from. */
  constructor(options: SnapshotSaverOptions, start: Fold) {
    this.#options = options;
    this.#position = start.position;
    this.#votes = votesOf(start);
    this.#savedAt = options.timers.now();
  }

  /** Milliseconds until the fold should be saved; Infinity if it has not changed since the last save. */
  dueIn(fold: Fold): number {
    if (fold.position <= this.#position) return Infinity;
    // A fold that started again after a rollback may have fewer votes than the snapshot.
    const hasManyVotes = Math.abs(votesOf(fold) - this.#votes) >= MANY_VOTES;
    const pause = hasManyVotes ? this.#rest : Math.max(this.#options.saveMs, this.#rest);
    return this.#savedAt + pause - this.#options.timers.now();
  }

  /** Saves posterior and position in one transaction. Throws LeaseLost if another node has taken over. */
  async save(fold: Fold): Promise<void> {
    const { store, lease, timers } = this.#options;
    const { position } = fold;
    if (position === this.#position) return;
    const startedAt = timers.now();
    const posterior = { hash: fold.hash(), state: fold.toBytes() };
    const snapshot = { router: lease.router, position, at: timers.date(), ...posterior };
    await store.saveSnapshot(snapshot, lease.token);
    this.#position = position;
    this.#votes = votesOf(fold);
    this.#savedAt = timers.now();
    // The size of a snapshot grows with models, categories and voters; the share of time does not.
    this.#rest = 20 * (this.#savedAt - startedAt);
  }
}

interface SnapshotSaverOptions {
  readonly store: Store;
  readonly lease: Lease;
  /** Shortest time between two snapshots that differ by few votes. */
  readonly saveMs: number;
  readonly timers: Timers;
}

/** Votes that take longer to fold again than a snapshot takes to save. */
const MANY_VOTES = 500;

function votesOf({ counts }: Fold): number {
  return counts.votes + counts.retired + counts.foreign;
}
