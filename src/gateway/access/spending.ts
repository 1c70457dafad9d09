import type { Store } from "../../store/store.ts";
import { monthOf } from "../../store/tally.ts";
import { HttpError } from "../errors/http-error.ts";

/**
 * What keys with a budget have spent this month: the store's sum, read again now
 * and then since other nodes spend too, and what was spent here meanwhile.
 * Requests under way are not known yet, so a budget may be passed by them.
 */
export class Spending {
  readonly #store: Pick<Store, "spent">;
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();

  /** `now` in milliseconds since 1970. */
  constructor(store: Pick<Store, "spent">, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Throws a 429 where the budget is used up. */
  async check(owner: string, budget: number): Promise<void> {
    const spent = await this.of(owner);
    if (spent < budget) return;
    const now = new Date(this.#now());
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const inFile = /^config:(.+)$/.exec(owner)?.[1];
    const raise = inFile ? `keys.${inFile}.budget in joust.yaml` : "it with `joust keys budget`";
    throw new HttpError(
      429,
      `this key has spent $${spent.toFixed(4)} of its $${budget} for ${monthOf(+now)}`,
      {
        hint: `raise ${raise}, or wait until ${new Date(next).toISOString().slice(0, 10)}`,
        type: "insufficient_quota",
        code: "insufficient_quota",
        retryAfter: (next - +now) / 1000,
      },
    );
  }

  /** US dollars in this month. */
  async of(owner: string): Promise<number> {
    const now = this.#now();
    const month = monthOf(now);
    const account = this.#accounts.get(owner);
    if (account?.month === month && now - account.readAt < FRESH_MS) {
      return account.stored + account.since;
    }
    try {
      const stored = await this.#store.spent(owner, month);
      // What was spent here in the last moments may not be in the store's sum yet: count it on.
      const since =
        account?.month === month ? Math.max(0, account.stored + account.since - stored) : 0;
      this.#accounts.set(owner, { month, stored, since, readAt: now });
      return stored + since;
    } catch (error) {
      // Without its store a node goes on with what it knows.
      if (account?.month !== month) throw error;
      account.readAt = now;
      return account.stored + account.since;
    }
  }

  /** This node has spent something. */
  add(owner: string, cost: number): void {
    const account = this.#accounts.get(owner);
    if (account) account.since += cost;
  }
}

interface Account {
  readonly month: string;
  readonly stored: number;
  since: number;
  readAt: number;
}

const FRESH_MS = 30_000;
