import type { Store } from "../../store/store.ts";
import { monthOf } from "../../store/tally.ts";
import { HttpError } from "../wire/http-error.ts";

/** Dollars of a key's budget that are set aside for one request. */
export interface Reservation {
  /** Replaces the reserved dollars with the actual cost of the request. Must be called once. */
  settle(cost: number): void;
  /** Sets more dollars aside until there are `most`. Resolves to false if the budget has no room for them. */
  raise(most: number): Promise<boolean>;
  /** Dollars that are set aside. */
  readonly amount: number;
}

/**
 * Budgets of API keys. A request reserves the most that it can cost before its models are called,
 * so that requests at the same time cannot spend the same dollars. The node leases parts of a
 * budget from the store, so that most reservations need no query and all nodes together stay
 * within it. The last request of a node may exceed the budget, because otherwise the rest of a
 * budget could never be spent.
 */
export class Budgets {
  readonly #store: Pick<Store, "leaseBudget">;
  readonly #node: string;
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();
  readonly #timer: NodeJS.Timeout;

  /** `now` in milliseconds since 1970. */
  constructor(store: Pick<Store, "leaseBudget">, node: string, now: () => number) {
    this.#store = store;
    this.#node = node;
    this.#now = now;
    this.#timer = setInterval(() => this.renew(), RENEW_MS).unref();
  }

  /** Throws 429 if less than `most` is left and other requests are running, or if nothing is left. */
  async reserve(owner: string, budget: number, most: number): Promise<Reservation> {
    const account = this.#accountOf(owner);
    account.budget = budget;
    account.usedAt = this.#now();
    const granted = await this.#setAside(account, most, 0);
    if (granted === undefined) throw this.#refusal(account, this.#free(account));
    let amount = granted;
    return {
      get amount() {
        return amount;
      },
      raise: async (all) => {
        if (all <= amount) return true;
        const more = await this.#setAside(account, all - amount, 1);
        amount += more ?? 0;
        return more !== undefined;
      },
      settle: (cost) => {
        account.reserved -= amount;
        account.running--;
        account.held -= cost;
        account.spent += cost;
      },
    };
  }

  /**
   * Sets dollars aside for a request, of which `own` (0 or 1) are running. Resolves to the dollars, which are fewer than
   * `most` if no other request is running, or to undefined if there is no room.
   */
  async #setAside(account: Account, most: number, own: 0 | 1): Promise<number | undefined> {
    while (this.#free(account) < most) {
      // If another request is already leasing more, wait for it and check again. Otherwise lease
      // more once, and decide with the result.
      if (account.leasing) await account.leasing;
      else {
        await this.#lease(account, most);
        break;
      }
    }
    const free = this.#free(account);
    const isLast = account.running === own && (own === 1 || free > 0);
    if (free < most && !isLast) return undefined;
    const amount = Math.max(0, Math.min(free, most));
    account.reserved += amount;
    account.running += 1 - own;
    return amount;
  }

  /** Renews the leases that are in use, and gives back what has not been used for a while. */
  async renew(): Promise<void> {
    for (const account of this.#accounts.values()) {
      const isIdle = account.running === 0 && this.#now() - account.usedAt > IDLE_MS;
      const isUpToDate = account.held <= 0 && (!isIdle || account.spent === account.reported);
      // The account knows what it has spent, so it is kept until its month is over.
      if (isIdle && isUpToDate && account.month !== monthOf(this.#now())) {
        this.#accounts.delete(account.owner);
      }
      if (account.leasing || isUpToDate) continue;
      await (isIdle ? this.#giveBack(account) : this.#lease(account, 0)).catch(() => {});
    }
  }

  /** Gives back everything that is not spent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const account of this.#accounts.values()) await this.#giveBack(account).catch(() => {});
  }

  #accountOf(owner: string): Account {
    const month = monthOf(this.#now());
    const known = this.#accounts.get(owner);
    if (known?.month === month) return known;
    // Requests that began last month settle with the old account.
    const account: Account = {
      owner,
      month,
      budget: 0,
      held: 0,
      reserved: 0,
      running: 0,
      spent: 0,
      reported: 0,
      used: 0,
      until: 0,
      usedAt: 0,
      shortAt: 0,
      leasing: undefined,
    };
    this.#accounts.set(owner, account);
    return account;
  }

  /** Dollars that can be reserved. A lease that has expired may be another node's by now. */
  #free({ held, reserved, until }: Account): number {
    return this.#now() >= until ? 0 : held - reserved;
  }

  /**
   * Leases dollars from the store until `want` are free, or a larger chunk. Does nothing if the
   * store granted less than was needed a moment ago.
   */
  #lease(account: Account, want: number): Promise<void> {
    if (want > 0 && this.#now() - account.shortAt < SHORT_MS) return Promise.resolve();
    return this.#alone(account, this.#leaseNow(account, want));
  }

  /** Lets the other requests of an account wait for a query of the store. */
  #alone(account: Account, query: Promise<void>): Promise<void> {
    account.leasing = query.finally(() => {
      account.leasing = undefined;
    });
    return account.leasing;
  }

  async #leaseNow(account: Account, want: number): Promise<void> {
    const { owner, month, budget, spent, until } = account;
    const now = this.#now();
    // After an answer that cost more than was set aside, `held` is too small, but `spent` has the cost.
    const held = now >= until ? account.reserved : Math.max(account.reserved, account.held);
    const missing = want - (held - account.reserved);
    const { granted, used } = await this.#store.leaseBudget({
      owner,
      month,
      node: this.#node,
      budget,
      spent,
      held,
      want: missing > 0 ? Math.max(missing, CHUNK * budget) : 0,
      milliseconds: LEASE_MS,
    });
    // Requests may have been settled in the meantime.
    account.held = held + granted - (account.spent - spent);
    account.used = used;
    account.reported = spent;
    if (granted < missing) account.shortAt = now;
    account.until = now + LEASE_MS - SAFETY_MS;
  }

  #giveBack(account: Account): Promise<void> {
    return this.#alone(account, this.#giveBackNow(account));
  }

  async #giveBackNow(account: Account): Promise<void> {
    const { owner, month, budget, spent, reserved: held } = account;
    account.held = held;
    const request = { owner, month, budget, spent, held, want: 0, milliseconds: LEASE_MS };
    await this.#store.leaseBudget({ ...request, node: this.#node });
    account.reported = spent;
  }

  #refusal({ owner, month, budget, spent, used, running }: Account, free: number): HttpError {
    if (running > 0 && free > 0) {
      return new HttpError(
        429,
        "the rest of this API key's budget is set aside for running requests",
        {
          hint: "try again when they have ended",
          code: "budget_reserved",
          retryAfter: 1,
        },
      );
    }
    const now = new Date(this.#now());
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const inFile = /^config:(.+)$/.exec(owner)?.[1];
    const raise = inFile ? `keys.${inFile}.budget in joust.yaml` : "it with `joust keys budget`";
    const total = Math.max(used, spent);
    return new HttpError(
      429,
      `this API key has spent $${total.toFixed(4)} of its $${budget} for ${month}`,
      {
        hint: `raise ${raise}, or wait until ${new Date(next).toISOString().slice(0, 10)}`,
        type: "insufficient_quota",
        code: "insufficient_quota",
        retryAfter: (next - +now) / 1000,
      },
    );
  }
}

/** A key's budget as this node knows it, in US dollars. */
interface Account {
  readonly owner: string;
  /** Calendar month, for example 2026-11. */
  readonly month: string;
  budget: number;
  /** Leased and not spent. */
  held: number;
  /** The part of `held` that running requests may cost. */
  reserved: number;
  /** Number of running requests. */
  running: number;
  /** Spent by this node. */
  spent: number;
  /** The part of `spent` that the store knows. */
  reported: number;
  /** Spent or held by all nodes, as of the last query of the store. */
  used: number;
  /** Time until which this node may spend what it holds. */
  until: number;
  /** Time of the last reservation. */
  usedAt: number;
  /** Time at which the store last granted less than was needed. */
  shortAt: number;
  leasing: Promise<void> | undefined;
}

/** Time after which other nodes may take what this one holds. */
const LEASE_MS = 60_000;
/** A node stops spending this much earlier, because its clock may differ from that of the store. */
const SAFETY_MS = 5000;
/** Time for which the store is not queried again after it granted less than was needed. */
const SHORT_MS = 200;
const RENEW_MS = 20_000;
const IDLE_MS = 60_000;
/** Share of a budget that is leased at once. */
const CHUNK = 0.02;
