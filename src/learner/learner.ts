import type { Store } from "../store/store.ts";
import { LeaseLost, StoreUnavailable } from "../store/store-error.ts";
import { systemTimers, type Timers } from "../store/timers.ts";
import type { FindPolicy, Fold } from "./fold.ts";
import { History } from "./history.ts";
import { Lease } from "./lease.ts";
import { Sleeper } from "./sleeper.ts";
import { SnapshotSaver } from "./snapshot-saver.ts";

/**
 * The learner of one router. The path of a vote from the log to the posterior:
 *
 * 1. `GroupCommit.vote` logs the vote. `receiptOfUsedBallot` decides what happens if its ballot was
 *    used before (both in store/).
 * 2. The store notifies its listeners, which wakes the learner that holds the router's lease.
 * 3. `History.advance` reads the new events in log order. `VoteSchedule` decides which votes count,
 *    considering freezes, rollbacks, excluded and forgotten voters.
 * 4. `Fold.learn` passes each vote that counts to the router and its policy (core/router.ts).
 * 5. `onLearned` hands the posterior to the `Follower` of this node, which serves requests with it.
 * 6. `SnapshotSaver.save` stores posterior and position. The followers of other nodes load them, and
 *    a restarted learner continues from them.
 *
 * The posterior is a function of the log alone. Saving snapshots less often means folding more
 * votes again after a crash; it never changes the result.
 */
export class Learner {
  readonly #options: LearnerOptions;
  readonly #settings: LearnerSettings;
  readonly #timers: Timers;
  readonly #sleeper: Sleeper;
  #isStopped = false;
  #lease: Lease | undefined;
  #hasHeldLease = false;
  #running: Promise<void> | undefined;
  #fold: Fold | undefined;

  constructor(options: LearnerOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#sleeper = new Sleeper(this.#timers);
    this.#settings = { ...(options.store.shared ? SHARED : SINGLE_NODE), ...options.settings };
  }

  /** The current posterior, or undefined while this node is not the router's learner. */
  get fold(): Fold | undefined {
    return this.#fold;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Saves the posterior and releases the lease. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sleeper.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { store, router, onError } = this.#options;
    const unsubscribe = store.onChange((change) => {
      if (change.router === router && change.what !== "snapshot") this.#sleeper.wake();
    });
    while (!this.#isStopped) {
      try {
        const lease = await this.#obtainLease();
        if (lease) await this.#learn(lease);
      } catch (error) {
        if (error instanceof LeaseLost) this.#lease = undefined;
        else if (!(error instanceof StoreUnavailable)) onError?.(error);
      }
      this.#fold = undefined;
      if (!this.#isStopped) await this.#sleeper.sleep(this.#settings.pollMs);
    }
    unsubscribe();
  }

  /** Acquires or renews the lease. Returns undefined while another node holds it. */
  async #obtainLease(): Promise<Lease | undefined> {
    const { store, router, holder } = this.#options;
    // A lease that was held before the store became unavailable may still be valid.
    if (this.#lease) await this.#lease.renew();
    else {
      // On a single node the previous holder is this program before its restart.
      const steal = !store.shared && !this.#hasHeldLease;
      const timers = this.#timers;
      const options = { holder, milliseconds: this.#settings.leaseMs, timers, steal };
      this.#lease = await Lease.acquire(store, router, options);
    }
    if (this.#lease) this.#hasHeldLease = true;
    return this.#lease;
  }

  /** Learns until the learner is stopped. Throws LeaseLost or StoreUnavailable. */
  async #learn(lease: Lease): Promise<void> {
    const { store, router, findPolicy } = this.#options;
    const timers = this.#timers;
    const { pollMs, saveMs } = this.#settings;
    const beforePage = () => lease.keep();
    const options = { findPolicy, snapshots: true, beforePage, timers };
    const history = new History(store, router, options);
    await history.open();
    this.#publish(history.fold);
    const saver = new SnapshotSaver({ store, lease, saveMs, timers }, history.fold);
    while (!this.#isStopped) {
      const hasAdvanced = await history.advance();
      if (hasAdvanced) this.#publish(history.fold);
      if (saver.dueIn(history.fold) <= 0) await saver.save(history.fold);
      await lease.keep();
      if (!hasAdvanced) await this.#sleeper.sleep(Math.min(saver.dueIn(history.fold), pollMs));
    }
    await saver.save(history.fold);
    this.#lease = undefined;
    await lease.release();
  }

  #publish(fold: Fold): void {
    this.#fold = fold;
    this.#options.onLearned?.(fold);
  }
}

export interface LearnerOptions {
  readonly store: Store;
  readonly router: string;
  /** Name of this node in the table of leases. */
  readonly holder: string;
  readonly findPolicy: FindPolicy;
  readonly timers?: Timers | undefined;
  readonly settings?: Partial<LearnerSettings> | undefined;
  /** Called with every new posterior. */
  readonly onLearned?: ((fold: Fold) => void) | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface LearnerSettings {
  /** Time after which a lease expires if it is not renewed. */
  readonly leaseMs: number;
  /** Longest time until the learner notices a change whose notification was lost. */
  readonly pollMs: number;
  /**
   * Shortest time between two snapshots that differ by few votes, and so about the delay after which
   * other nodes see a vote.
   */
  readonly saveMs: number;
}

const SHARED: LearnerSettings = { leaseMs: 10_000, pollMs: 1000, saveMs: 250 };
/** Settings of a single node. No other node waits for its snapshots; they only shorten a restart. */
const SINGLE_NODE: LearnerSettings = { leaseMs: 10_000, pollMs: 1000, saveMs: 2000 };
