import type { Store } from "../store/store.ts";
import { LeaseLost } from "../store/store-error.ts";
import type { Timers } from "../store/timers.ts";

/**
 * The right to be the only learner of a router. A lease expires unless it is renewed, so that
 * another node takes over from a node that has died. A node that was only paused is refused when it
 * saves next, because its token is old by then.
 */
export class Lease {
  readonly router: string;
  readonly token: number;
  readonly #store: Store;
  readonly #milliseconds: number;
  readonly #timers: Timers;
  #renewedAt: number;

  private constructor(store: Store, router: string, token: number, options: LeaseOptions) {
    this.#store = store;
    this.router = router;
    this.token = token;
    this.#milliseconds = options.milliseconds;
    this.#timers = options.timers;
    this.#renewedAt = options.timers.now();
  }

  /** Acquires the lease. Returns undefined while another node holds it. */
  static async acquire(
    store: Store,
    router: string,
    options: LeaseOptions,
  ): Promise<Lease | undefined> {
    const { holder, milliseconds, steal } = options;
    const token = await store.acquireLease(router, holder, milliseconds, steal);
    return token === undefined ? undefined : new Lease(store, router, token, options);
  }

  /** Renews the lease if a third of its time has passed. Call it often. Throws LeaseLost. */
  async keep(): Promise<void> {
    if (this.#timers.now() - this.#renewedAt >= this.#milliseconds / 3) await this.renew();
  }

  /** Renews the lease. Throws LeaseLost if another node has taken it. */
  async renew(): Promise<void> {
    const now = this.#timers.now();
    if (!(await this.#store.renewLease(this.router, this.token, this.#milliseconds))) {
      throw new LeaseLost(this.router);
    }
    this.#renewedAt = now;
  }

  async release(): Promise<void> {
    await this.#store.releaseLease(this.router, this.token);
  }
}

export interface LeaseOptions {
  /** Name of the holder, for people who read the table of leases. */
  readonly holder: string;
  readonly milliseconds: number;
  /** Take the lease even if another holder's lease is valid. */
  readonly steal: boolean;
  readonly timers: Timers;
}
