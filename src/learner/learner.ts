import type { Store } from "../store/store.ts";
import { LeaseLost, StoreUnavailable } from "../store/store-error.ts";
import type { Fold, Kinds } from "./fold.ts";
import { History } from "./history.ts";
import { Lease } from "./lease.ts";
import { Wake } from "./wake.ts";

/**
 * Log -> posterior -> snapshot. Holds the router's lease or waits for it; folds
 * what is logged after its position; saves posterior and position in one. How
 * often it saves decides how much is folded again after a crash, never what
 * comes out: that is a function of the log alone.
 */
export class Learner {
  readonly #options: LearnerOptions;
  readonly #settings: LearnerSettings;
  readonly #wake = new Wake();
  #stopped = false;
  #lease: Lease | undefined;
  #held = false;
  #running: Promise<void> | undefined;
  #fold: Fold | undefined;

  constructor(options: LearnerOptions) {
    this.#options = options;
    this.#settings = {
      ...(options.store.shared ? SHARED : ALONE),
      ...options.settings,
    };
  }

  /** What has been learnt, while this is the router's learner. */
  get fold(): Fold | undefined {
    return this.#fold;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Saves what was learnt and gives the lease back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake.now();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { store, router, onError } = this.#options;
    const off = store.onChange((change) => {
      if (change.router === router && change.what === "log") this.#wake.now();
    });
    while (!this.#stopped) {
      try {
        await this.#hold();
      } catch (error) {
        if (error instanceof LeaseLost) this.#lease = undefined;
        else if (!(error instanceof StoreUnavailable)) onError?.(error);
      }
      this.#fold = undefined;
      if (!this.#stopped) await this.#wake.within(this.#settings.pollMs);
    }
    off();
  }

  /** From taking the lease to losing it, or to the end. */
  async #hold(): Promise<void> {
    const { store, router, holder, kinds, now, time } = this.#options;
    const { leaseMs, pollMs } = this.#settings;
    // One node only: whoever holds the lease is this program before it was started again.
    const steal = !store.shared && !this.#held;
    const options = { holder, milliseconds: leaseMs, now, steal };
    // One that was held when the store went away may still be this one's.
    if (this.#lease) await this.#lease.renew();
    else this.#lease = await Lease.acquire(store, router, options);
    const lease = this.#lease;
    if (!lease) return;
    this.#held = true;
    const meanwhile = () => lease.keep();
    const history = new History(store, router, { kinds, snapshots: true, meanwhile });
    await history.open();
    this.#learnt(history.fold);
    let saved = history.fold.position;
    let savedAt = now();
    let pause = this.#settings.saveMs;
    const save = async () => {
      const { fold } = history;
      const { position } = fold;
      if (position === saved) return;
      const began = now();
      const taken = { hash: fold.hash(), state: fold.toBytes() };
      await store.saveSnapshot({ router, position, at: time(), ...taken }, lease.token);
      saved = position;
      savedAt = now();
      // A snapshot grows with models, categories and voters, its share of the time does not.
      pause = Math.max(this.#settings.saveMs, SHARE * (savedAt - began));
    };
    while (!this.#stopped) {
      const moved = await history.advance();
      if (moved) this.#learnt(history.fold);
      const due = savedAt + pause - now();
      if (history.fold.position > saved && due <= 0) await save();
      await lease.keep();
      if (moved) continue;
      await this.#wake.within(history.fold.position > saved ? Math.min(due, pollMs) : pollMs);
    }
    await save();
    this.#lease = undefined;
    await lease.release();
  }

  #learnt(fold: Fold): void {
    this.#fold = fold;
    this.#options.onLearnt?.(fold);
  }
}

export interface LearnerOptions {
  readonly store: Store;
  readonly router: string;
  readonly holder: string;
  readonly kinds: Kinds;
  /** A clock that is never set back, and the time of day; both in milliseconds. */
  readonly now: () => number;
  readonly time: () => number;
  readonly settings?: Partial<LearnerSettings> | undefined;
  /** Called when there is more to serve by. */
  readonly onLearnt?: ((fold: Fold) => void) | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface LearnerSettings {
  /** How long a lease holds that nobody keeps up. */
  readonly leaseMs: number;
  /** How long it may take to notice what nobody has told. */
  readonly pollMs: number;
  /** How long what was learnt may be unsaved, and unknown to other nodes. */
  readonly saveMs: number;
}

const SHARED: LearnerSettings = { leaseMs: 10_000, pollMs: 1000, saveMs: 250 };
/** Nobody else waits for the snapshot: it saves folding after a restart, no more. */
const ALONE: LearnerSettings = { leaseMs: 10_000, pollMs: 1000, saveMs: 2000 };

/** Saving takes at most a twentieth of the time. */
const SHARE = 20;
