import { setTimeout as sleep } from "node:timers/promises";
import type { Router, RouterSettings } from "../core/router.ts";
import type { Configured, Logged } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store/store-error.ts";
import { type Fold, type Kinds, type Posterior, readState, routerOf } from "./fold.ts";
import { learnsAnew } from "./script.ts";
import { Wake } from "./wake.ts";

/** What requests are served with. */
export interface Serving {
  readonly router: Router;
  readonly configuration: Logged<Configured>;
  /** The last position that the posterior has learnt from. */
  readonly version: number;
}

/**
 * Keeps a router at the newest posterior: that of this node's own learner, where
 * it has one, else of the snapshots that another node saves. Without its store it
 * goes on with what it has.
 */
export class Follower {
  readonly #options: FollowerOptions;
  readonly #wake = new Wake();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #serving: Serving | undefined;
  #configurations: Logged<Configured>[] = [];
  #offered: Fold | undefined;
  #seen = "";
  #spent = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Undefined until the router is configured. */
  get serving(): Serving | undefined {
    return this.#serving;
  }

  /** Loads what there is, and keeps looking for more. */
  async start(): Promise<void> {
    await this.load();
    const { store, router } = this.#options;
    const off = store.onChange((change) => {
      if (change.router === router) this.#wake.now();
    });
    this.#running = this.#follow().finally(off);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake.now();
    await this.#running;
  }

  /** This node's learner has learnt something. */
  adopt(fold: Fold): void {
    this.#offered = fold;
    this.#wake.now();
  }

  /** Takes up the newest configuration and posterior, if there are newer ones. */
  async load(): Promise<void> {
    const { store, router } = this.#options;
    const newest = (await store.snapshotPositions(router)).at(-1) ?? 0;
    const seen = `${await store.head(router)} ${newest}`;
    if (seen === this.#seen) return;
    const controls = await store.controls(router);
    this.#configurations = controls.filter((event) => event.kind === "configured");
    const stored = newest > this.#version ? await store.snapshot(router) : undefined;
    const state = stored && readState(stored.state);
    if (state) this.#serve(state.posterior, state.configuration, state.position);
    else this.#serve(undefined, 0, this.#version);
    this.#seen = seen;
  }

  get #version(): number {
    return this.#serving?.version ?? 0;
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#wake.within(this.#options.pollMs ?? 1000);
      if (signal.aborted) return;
      this.#spent = 0;
      try {
        // What this node has learnt is at hand, unless it is of a configuration not read yet.
        if (this.#offered && !this.#configurationAt(this.#offered.configuration?.position)) {
          await this.load();
        }
        this.#takeOffered();
        await this.load();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) this.#options.onError?.(error);
      }
      // Taking up a posterior is work for the thread that serves: a twentieth of its time at most.
      await sleep(20 * this.#spent, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  #takeOffered(): void {
    const fold = this.#offered;
    this.#offered = undefined;
    if (!fold?.router || !fold.configuration || fold.position <= this.#version) return;
    const { policy, voters } = fold.router.snapshot();
    this.#serve({ policy, voters }, fold.configuration.position, fold.position);
  }

  /** By the newest configuration, folded already or not: a new model need not wait for the learner. */
  #serve(posterior: Posterior | undefined, learntUnder: number, version: number): void {
    const newest = this.#configurations.at(-1);
    if (!newest) return;
    const began = performance.now();
    const { kinds, settings } = this.#options;
    const before = this.#serving;
    const changed = newest.position !== before?.configuration.position;
    const router = changed ? routerOf(newest, kinds, settings) : before.router;
    if (before && changed) {
      const { serving, ...learnt } = before.router.snapshot();
      const keep = !learnsAnew(before.configuration, newest);
      router.restore({ ...(keep ? learnt : router.snapshot()), serving });
    }
    const of = this.#configurationAt(learntUnder);
    const fits = posterior && of && !learnsAnew(of, newest);
    if (fits) router.restore(posterior);
    this.#serving = { router, configuration: newest, version: fits ? version : this.#version };
    this.#spent += performance.now() - began;
  }

  #configurationAt(place: number | undefined): Logged<Configured> | undefined {
    return this.#configurations.find(({ position }) => position === place);
  }
}

export interface FollowerOptions {
  readonly store: Store;
  readonly router: string;
  readonly kinds: Kinds;
  /** What the router does around its policy. */
  readonly settings?: Partial<RouterSettings> | undefined;
  readonly pollMs?: number | undefined;
  /** What cannot be taken up is left; what is served stays as it was. */
  readonly onError?: ((error: unknown) => void) | undefined;
}
