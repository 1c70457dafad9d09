import type { Router, RouterSettings } from "../core/router.ts";
import type { Configured, Logged } from "../store/events.ts";
import type { Store, StoredSnapshot } from "../store/store.ts";
import { StoreUnavailable } from "../store/store-error.ts";
import { systemTimers, type Timers } from "../store/timers.ts";
import {
  type FindPolicy,
  type Fold,
  type FoldState,
  isOutdated,
  readableState,
  routerOf,
} from "./fold.ts";
import { Sleeper } from "./sleeper.ts";
import { restartsLearning } from "./vote-schedule.ts";

/** The router that serves requests, and the configuration and posterior it was made from. */
export interface ServedRouter {
  readonly router: Router;
  readonly configuration: Logged<Configured>;
  /** Position of the last event that the posterior was learned from. */
  readonly version: number;
}

/**
 * Keeps a router at the newest posterior. The posterior comes from this node's own learner if it
 * holds the lease, otherwise from the snapshots that another node saves. While the store is
 * unavailable, it keeps serving with the last posterior.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #timers: Timers;
  readonly #sleeper: Sleeper;
  /** Sleeps after posteriors were installed. Changes do not end it. */
  readonly #pause: Sleeper;
  #isStopped = false;
  #running: Promise<void> | undefined;
  #serving: ServedRouter | undefined;
  readonly #configurations: Logged<Configured>[] = [];
  /** A newer posterior of this node's learner. */
  #offered: Fold | undefined;
  /**
   * Whether the posterior comes from a version that learned in another way. It is served until the
   * learner has learned all of its votes again, which gives a posterior of the same position.
   */
  #isOutdated = false;
  /** Newest positions of the log and of the snapshots at the last load. */
  #loaded = "";
  /** Milliseconds spent on reading and installing posteriors since the last pause. */
  #spentMs = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    this.#sleeper = new Sleeper(this.#timers);
    this.#pause = new Sleeper(this.#timers);
  }

  /** The router that serves requests; undefined until it is configured. */
  get serving(): ServedRouter | undefined {
    return this.#serving;
  }

  /** Loads the newest configuration and posterior and follows later changes. */
  async start(): Promise<void> {
    await this.load();
    const { store, router } = this.#options;
    const unsubscribe = store.onChange((change) => {
      if (change.router === router) this.#sleeper.wake();
    });
    this.#running = this.#follow().finally(unsubscribe);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sleeper.wake();
    this.#pause.wake();
    await this.#running;
  }

  /** Takes over a posterior of this node's learner, soon but not at once. */
  adopt(fold: Fold): void {
    this.#offered = fold;
    this.#sleeper.wake();
  }

  /** Loads the newest configuration and posterior if they have changed. */
  async load(): Promise<void> {
    const { store, router } = this.#options;
    const newest = (await store.snapshotPositions(router)).at(-1) ?? 0;
    const current = `${await store.head(router)} ${newest}`;
    const isChanged = current !== this.#loaded;
    if (!isChanged && !this.#isOutdated) return;
    if (isChanged) {
      for (const event of await store.controls(router, this.#newestConfiguration)) {
        // Another load may have added it.
        const isNew = event.position > this.#newestConfiguration;
        if (isNew && event.kind === "configured") this.#configurations.push(event);
      }
    }
    const mayBeNewer = newest > this.#version || this.#isOutdated;
    const learned = mayBeNewer ? this.#read(await store.snapshot(router)) : undefined;
    if (learned && this.#isNewer(learned)) this.#install(learned);
    else if (isChanged) this.#install(undefined);
    this.#loaded = current;
  }

  /** The newest configuration that fits the embeddings of this node. */
  get #newest(): Logged<Configured> | undefined {
    const { encoder } = this.#options;
    return this.#configurations.findLast((one) => encoder === undefined || one.encoder === encoder);
  }

  /** Position of the newest configuration that was loaded, or 0. */
  get #newestConfiguration(): number {
    return this.#configurations.at(-1)?.position ?? 0;
  }

  #read(stored: StoredSnapshot | undefined): Learned | undefined {
    // The newest snapshot may be damaged or erased by now, and an older one must not replace it.
    if (!stored || stored.position < this.#version) return undefined;
    const startedAt = this.#timers.now();
    const state = readableState(stored.state);
    this.#spentMs += this.#timers.now() - startedAt;
    if (!state) return undefined;
    const { findPolicy } = this.#options;
    return { ...state, isOutdated: isOutdated(state, this.#newest, findPolicy) };
  }

  /** Whether a posterior replaces the one that is served, which may be of the same position but outdated. */
  #isNewer({ position, isOutdated }: Pick<Learned, "position" | "isOutdated">): boolean {
    if (position === this.#version) return this.#isOutdated && !isOutdated;
    return position > this.#version;
  }

  get #version(): number {
    return this.#serving?.version ?? 0;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      await this.#sleeper.sleep(this.#options.pollMs ?? 1000);
      if (this.#isStopped) return;
      this.#spentMs = 0;
      try {
        // The learner may have used a configuration that was not loaded yet.
        if (this.#offered && !this.#configurationAt(this.#offered.configuration?.position)) {
          await this.load();
        }
        this.#installOffered();
        await this.load();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) this.#options.onError?.(error);
      }
      // Posteriors may use at most a twentieth of the time of the serving thread.
      await this.#pause.sleep(20 * this.#spentMs);
    }
  }

  #installOffered(): void {
    const fold = this.#offered;
    this.#offered = undefined;
    if (!fold?.router || !fold.configuration) return;
    const { position } = fold;
    if (!this.#isNewer({ position, isOutdated: false })) return;
    const { policy, voters } = fold.router.snapshot();
    const configuration = fold.configuration.position;
    this.#install({ posterior: { policy, voters }, configuration, position, isOutdated: false });
  }

  /** Serves with the newest configuration, even if no vote was folded under it: a new model need not wait for the learner. */
  #install(learned: Learned | undefined): void {
    const newest = this.#newest;
    if (!newest) return;
    const startedAt = this.#timers.now();
    const { findPolicy, settings } = this.#options;
    const before = this.#serving;
    const changed = newest.position !== before?.configuration.position;
    const router = changed ? routerOf(newest, findPolicy, settings) : before.router;
    if (before && changed) {
      const { serving, ...posterior } = before.router.snapshot();
      const isUsable = !restartsLearning(before.configuration, newest);
      router.restore({ ...(isUsable ? posterior : router.snapshot()), serving });
    }
    let version = this.#version;
    const own = this.#configurationAt(learned?.configuration);
    if (learned?.posterior && own && !restartsLearning(own, newest)) {
      router.restore(learned.posterior);
      version = learned.position;
      this.#isOutdated = learned.isOutdated;
    }
    this.#serving = { router, configuration: newest, version };
    this.#spentMs += this.#timers.now() - startedAt;
  }

  #configurationAt(at: number | undefined): Logged<Configured> | undefined {
    return this.#configurations.find(({ position }) => position === at);
  }
}

/** A posterior that may be served. */
interface Learned extends Pick<FoldState, "posterior" | "configuration" | "position"> {
  /** Whether it comes from a version that learned in another way. */
  readonly isOutdated: boolean;
}

export interface FollowerOptions {
  readonly store: Store;
  readonly router: string;
  readonly findPolicy: FindPolicy;
  /**
   * Logged name of the encoder that embeds the prompts of this node. Configurations with another encoder are not
   * served: other nodes log them while a change of encoder spreads. By default, all are served.
   */
  readonly encoder?: string | undefined;
  /** Settings of the router that do not affect learning. */
  readonly settings?: Partial<RouterSettings> | undefined;
  readonly pollMs?: number | undefined;
  readonly timers?: Timers | undefined;
  /** Called if a posterior cannot be loaded. The last one stays in use. */
  readonly onError?: ((error: unknown) => void) | undefined;
}
