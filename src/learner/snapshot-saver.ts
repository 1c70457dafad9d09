import type { Store } from "../store/store.ts";
import type { Fold } from "./fold.ts";
import type { Lease } from "./lease.ts";

/** Saves snapshots of a fold, at most every `saveMs` and using at most a twentieth of the time. */
export class SnapshotSaver {
  readonly #options: SnapshotSaverOptions;
  /** Position of the last saved snapshot. */
  #position: number;
  #savedAt: number;
  #pause: number;

  /** `position` is the position of the snapshot that learning started from. */
  constructor(options: SnapshotSaverOptions, position: number) {
    this.#options = options;
    this.#position = position;
    this.#savedAt = options.now();
    this.#pause = options.saveMs;
  }

  /** Milliseconds until the fold should be saved; Infinity if it has not changed since the last save. */
  dueIn({ position }: Fold): number {
    if (position <= this.#position) return Infinity;
    return this.#savedAt + this.#pause - this.#options.now();
  }

  /** Saves posterior and position in one transaction. Throws LeaseLost if another node has taken over. */
  async save(fold: Fold): Promise<void> {
    const { store, lease, now, time, saveMs } = this.#options;
    const { position } = fold;
    if (position === this.#position) return;
    const startedAt = now();
    const posterior = { hash: fold.hash(), state: fold.toBytes() };
    const snapshot = { router: lease.router, position, at: time(), ...posterior };
    await store.saveSnapshot(snapshot, lease.token);
    this.#position = position;
    this.#savedAt = now();
    // The size of a snapshot grows with models, categories and voters; the share of time does not.
    this.#pause = Math.max(saveMs, 20 * (this.#savedAt - startedAt));
  }
}

interface SnapshotSaverOptions {
  readonly store: Store;
  readonly lease: Lease;
  /** Shortest time between two snapshots. */
  readonly saveMs: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The current time in milliseconds since 1970. */
  readonly time: () => number;
}
