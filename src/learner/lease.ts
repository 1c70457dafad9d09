import type { Store } from "../store/store.ts";
import { LeaseLost } from "../store/store-error.ts";

/**
 * The right to be a router's one learner. It runs out unless it is kept up, so
 * that another node takes over from one that has died. One that was only paused
 * learns of it when it next saves: its token is an old one by then.
 */
export class Lease {
  readonly router: string;
  readonly token: number;
  readonly #store: Store;
  readonly #milliseconds: number;
  readonly #now: () => number;
  #renewed: number;

  private constructor(store: Store, router: string, token: number, options: LeaseOptions) {
    this.#store = store;
    this.router = router;
    this.token = token;
    this.#milliseconds = options.milliseconds;
    this.#now = options.now;
    this.#renewed = options.now();
  }

  /** Undefined while another holds it. */
  static async acquire(
    store: Store,
    router: string,
    options: LeaseOptions,
  ): Promise<Lease | undefined> {
    const { holder, milliseconds, steal } = options;
    const token = await store.acquireLease(router, holder, milliseconds, steal);
    return token === undefined ? undefined : new Lease(store, router, token, options);
  }

  /** To be called now and then: renews it when a third of its time is over. Throws LeaseLost. */
  async keep(): Promise<void> {
    if (this.#now() - this.#renewed >= this.#milliseconds / 3) await this.renew();
  }

  /** Throws LeaseLost where another has taken it. */
  async renew(): Promise<void> {
    const now = this.#now();
    if (!(await this.#store.renewLease(this.router, this.token, this.#milliseconds))) {
      throw new LeaseLost(this.router);
    }
    this.#renewed = now;
  }

  async release(): Promise<void> {
    await this.#store.releaseLease(this.router, this.token);
  }
}

export interface LeaseOptions {
  /** Who asks; for people who look into the table. */
  readonly holder: string;
  readonly milliseconds: number;
  /** Take it from who holds it. */
  readonly steal: boolean;
  /** A clock that is never set back, in milliseconds. */
  readonly now: () => number;
}
