import { setTimeout as sleep } from "node:timers/promises";
import type { Scope } from "../../api/scopes.ts";
import type { Store, StoredKey } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import { HttpError } from "../errors/http-error.ts";
import { allows, hashOf, newSecret, secretOf } from "./api-key.ts";
import { RateLimit } from "./rate-limit.ts";
import { Spending } from "./spending.ts";

/** Who sends a request. */
export interface Caller {
  /** Its key's id; undefined where no keys are configured. */
  readonly owner: string | undefined;
  readonly isAdmin: boolean;
  /** What its key says of duels. */
  readonly duels?: boolean | "auto" | undefined;
}

type Key = Omit<StoredKey, "name" | "createdAt">;

/** Keys, what they may do, how often and for how much. */
export class Access {
  readonly spending: Spending;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits = new Map<number, RateLimit>();
  #config: Pick<Config, "keys" | "server">;
  #stored: readonly StoredKey[] = [];
  #byHash = new Map<string, Key>();
  #budgets = new Map<string, number>();
  /** Keys of this very process, for what it asks of itself. */
  readonly #inner = new Map<string, Key>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #waiting: Promise<unknown> | undefined;
  #waitedAt = Number.NEGATIVE_INFINITY;

  private constructor(config: Pick<Config, "keys" | "server">, store: Store, clock: Clock) {
    this.#config = config;
    this.#store = store;
    this.#clock = clock;
    this.spending = new Spending(store, () => clock.date());
  }

  static async open(
    config: Pick<Config, "keys" | "server">,
    store: Store,
    clock: Clock,
  ): Promise<Access> {
    const access = new Access(config, store, clock);
    await access.read();
    return access;
  }

  /** The secret of a key that lasts as long as the process. */
  addInnerKey(id: string, scopes: readonly Scope[]): string {
    const secret = newSecret();
    const hash = hashOf(secret);
    this.#inner.set(hash, { id, hash, scopes });
    return secret;
  }

  configure(config: Pick<Config, "keys" | "server">): void {
    this.#config = config;
    this.#index();
  }

  /** Without keys whoever can reach the gateway may do everything, so only this machine may reach it. */
  get isOpen(): boolean {
    return this.#byHash.size === 0;
  }

  /** The keys as they are in the store now; other nodes and `joust keys` change them. */
  async read(): Promise<void> {
    this.#reading ??= this.#store
      .keys()
      .then((keys) => {
        this.#stored = keys;
        this.#readAt = this.#clock.now();
        this.#index();
      })
      .finally(() => {
        this.#reading = undefined;
      });
    await this.#reading;
  }

  /** Lets a request in or throws what to answer it. */
  async admit(headers: Readonly<Record<string, unknown>>, scope: Scope): Promise<Caller> {
    await this.#look();
    if (this.isOpen) {
      this.#limit("", undefined);
      return NOBODY;
    }
    const key = await this.#keyOf(headers);
    if (!allows(key, scope)) {
      throw new HttpError(403, `this key may ${key.scopes.join(" and ")}, this takes ${scope}`, {
        hint: `make one with \`joust keys add NAME --scopes ${scope}\``,
        code: "insufficient_scope",
      });
    }
    this.#limit(key.id, key.rate);
    const isAdmin = key.scopes.includes("admin");
    return { owner: key.id, isAdmin, duels: key.duels };
  }

  /**
   * Reads the keys again after a moment, beside what is served; after a rest before
   * it: a key may have been revoked meanwhile. With the store down the last ones are good.
   */
  #look(): Promise<unknown> | undefined {
    const now = this.#clock.now();
    if (now - this.#readAt <= FRESH_MS) return undefined;
    const read = this.read().catch(() => {});
    if (this.#waiting || now - Math.max(this.#readAt, this.#waitedAt) <= REST_MS) {
      return this.#waiting;
    }
    this.#waitedAt = now;
    this.#waiting = Promise.race([read, sleep(PATIENCE_MS, undefined, { ref: false })]).finally(
      () => {
        this.#waiting = undefined;
      },
    );
    return this.#waiting;
  }

  /** Throws where the caller has nothing left to spend. */
  async checkBudget({ owner }: Caller): Promise<void> {
    if (owner === undefined) return;
    const budget = this.#budgets.get(owner);
    if (budget !== undefined) await this.spending.check(owner, budget);
  }

  /** A vote without a key: by where it comes from. */
  limitStranger(address: string): void {
    this.#take(STRANGERS_A_MINUTE, address);
  }

  #index(): void {
    const own = Object.entries(this.#config.keys).map(
      ([name, { key, ...rest }]): Key => ({ id: `config:${name}`, hash: hashOf(key), ...rest }),
    );
    const all: Key[] = [...this.#stored, ...own];
    this.#byHash = new Map(all.map((key) => [key.hash, key]));
    this.#budgets = new Map(
      all.flatMap(({ id, budget }) => (budget === undefined ? [] : [[id, budget] as const])),
    );
  }

  async #keyOf(headers: Readonly<Record<string, unknown>>): Promise<Key> {
    const secret = secretOf(headers);
    if (secret === undefined) throw noKey("there is no API key in the request");
    const hash = hashOf(secret);
    let key = this.#byHash.get(hash) ?? this.#inner.get(hash);
    if (!key && this.#clock.now() - this.#readAt > RETRY_MS) {
      await this.read();
      key = this.#byHash.get(hash);
    }
    if (!key) throw noKey("this API key is not known");
    if (key.revokedAt !== undefined) throw noKey("this API key was revoked");
    return key;
  }

  #limit(client: string, own: number | undefined): void {
    const rate = own ?? this.#config.server.rate;
    if (rate !== undefined) this.#take(rate, client);
  }

  #take(rate: number, client: string): void {
    const limit = this.#limits.get(rate) ?? new RateLimit(rate);
    this.#limits.set(rate, limit);
    const wait = limit.take(client, this.#clock.now());
    if (wait === 0) return;
    throw new HttpError(429, `more than ${rate} requests a minute`, {
      hint: `send fewer, or try again in ${Math.ceil(wait)} s`,
      code: "rate_limit_exceeded",
      retryAfter: wait,
    });
  }
}

const NOBODY: Caller = { owner: undefined, isAdmin: true };
const FRESH_MS = 2000;
const REST_MS = 5000;
/** How long requests wait for a store that does not say anything. */
const PATIENCE_MS = 1000;
/** A key that is not known may have been made a moment ago; not every guess is worth a look. */
const RETRY_MS = 250;
const STRANGERS_A_MINUTE = 120;

function noKey(problem: string): HttpError {
  return new HttpError(401, problem, {
    hint: `send \`Authorization: Bearer KEY\` with a key of \`joust keys add NAME\``,
    code: "invalid_api_key",
  });
}
