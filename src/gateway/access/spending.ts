import type { Store } from "../../store/store.ts";
import { monthOf } from "../../store/tally.ts";
import { HttpError } from "../wire/http-error.ts";

/**
 * Amounts that API keys with a budget have spent this month: the sum in the store, which
 * includes other nodes and is read every 30 seconds, plus what this node has spent since.
 * Running requests are not counted yet, so they can exceed a budget.
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

  /** Throws 429 if the budget is used up. */
  async check(owner: string, budget: number): Promise<void> {
    const spent = await this.of(owner);
    if (spent < budget) return;
    const now = new Date(this.#now());
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const inFile = /^config:(.+)$/.exec(owner)?.[1];
    const raise = inFile ? `keys.${inFile}.budget in joust.yaml` : "it with `joust keys budget`";
    throw new HttpError(
      429,
      `this API key has spent $${spent.toFixed(4)} of its $${budget} for ${monthOf(+now)}`,
      {
        hint: `raise ${raise}, or wait until ${new Date(next).toISOString().slice(0, 10)}`,
        type: "insufficient_quota",
        code: "insufficient_quota",
        retryAfter: (next - +now) / 1000,
      },
    );
  }

  /** US dollars that a key has spent this month. */
  async of(owner: string): Promise<number> {
    const now = this.#now();
    const month = monthOf(now);
    const account = this.#accounts.get(owner);
    if (account?.month === month && now - account.readAt < FRESH_MS) {
      return account.stored + account.since;
    }
    try {
      const stored = await this.#store.spent(owner, month);
      // The newest amounts of this node may not be in the sum of the store yet.
      const since =
        account?.month === month ? Math.max(0, account.stored + account.since - stored) : 0;
      this.#accounts.set(owner, { month, stored, since, readAt: now });
      return stored + since;
    } catch (error) {
      // Without the store, the last known amount counts.
      if (account?.month !== month) throw error;
      account.readAt = now;
      return account.stored + account.since;
    }
  }

  add(owner: string, cost: number): void {
    const account = this.#accounts.get(owner);
    if (account) account.since += cost;
  }
}

interface Account {
  /** For example 2026-11. */
  readonly month: string;
  readonly stored: number;
  /** US dollars that this node has spent since the store was read. */
  since: number;
  readAt: number;
}

const FRESH_MS = 30_000;

/**
 * Token buckets, one per client, each refilled at a steady rate up to `burst` tokens. Full
 * buckets are not stored, so memory depends on the number of active clients.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** By default the burst is a sixth of the rate, but at least 10, or the whole rate if it is smaller. */
  constructor(perMinute: number, burst = Math.max(1, Math.min(perMinute, 10), perMinute / 6)) {
    this.#perSecond = perMinute / 60;
    this.#burst = burst;
  }

  /** Takes a token and returns 0, or returns the seconds until there is one. `now` is in milliseconds. */
  take(client: string, now: number): number {
    const bucket = this.#buckets.get(client) ?? { tokens: this.#burst, at: now };
    const tokens = this.#filled(bucket, now);
    if (tokens < 1) return (1 - tokens) / this.#perSecond;
    this.#buckets.delete(client);
    this.#buckets.set(client, { tokens: tokens - 1, at: now });
    this.#removeFull(now);
    return 0;
  }

  /** Removes full buckets. The bucket that was used least recently is the first to be full. */
  #removeFull(now: number): void {
    for (const [client, bucket] of this.#buckets) {
      if (this.#filled(bucket, now) < this.#burst) break;
      this.#buckets.delete(client);
    }
  }

  #filled({ tokens, at }: { tokens: number; at: number }, now: number): number {
    const added = (Math.max(0, now - at) / 1000) * this.#perSecond;
    return Math.min(this.#burst, tokens + added);
  }

  get size(): number {
    return this.#buckets.size;
  }
}
