import { setTimeout as sleep } from "node:timers/promises";
import type { Scope } from "../../api/scopes.ts";
import type { StoredKey } from "../../store/key.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import { hashOf } from "./keys.ts";

export type Key = Omit<StoredKey, "createdAt">;

/**
 * The API keys of the configuration and of the store, and the sessions that were ended. The store is read repeatedly,
 * because other nodes and `joust keys` change it.
 */
export class KeyRing {
  readonly #store: Pick<Store, "keys" | "endedSessions">;
  readonly #clock: Clock;
  #configured: Config["keys"];
  #stored: readonly StoredKey[] = [];
  #ended: ReadonlySet<string> = new Set();
  #byHash = new Map<string, Key>();
  #byId = new Map<string, Key>();
  /** Keys that only this machine knows, for the requests that it sends to itself. */
  readonly #internal = new Map<string, Key>();
  /** Time of the last successful read, by the clock. */
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** The read that follows the running one. */
  #nextRead: Promise<void> | undefined;
  #waiting: Promise<unknown> | undefined;
  #waitedAt = Number.NEGATIVE_INFINITY;

  constructor(
    configured: Config["keys"],
    store: Pick<Store, "keys" | "endedSessions">,
    clock: Clock,
  ) {
    this.#configured = configured;
    this.#store = store;
    this.#clock = clock;
  }

  configure(configured: Config["keys"]): void {
    this.#configured = configured;
    this.#index();
  }

  /** Adds a key that is valid as long as the gateway runs. */
  addInternal(id: string, secret: string, scopes: readonly Scope[]): void {
    const hash = hashOf(secret);
    this.#internal.set(hash, { id, name: id, hash, scopes });
  }

  /** Whether there is no key besides internal ones. */
  get isEmpty(): boolean {
    return this.#byHash.size === 0;
  }

  /** Whether there would be no key with another configuration. Reads the stored keys. */
  async isEmptyWith(configured: Config["keys"]): Promise<boolean> {
    if (Object.keys(configured).length > 0) return false;
    await this.read();
    return this.#stored.length === 0;
  }

  withHash(hash: string): Key | undefined {
    return this.#byHash.get(hash) ?? this.#internal.get(hash);
  }

  withId(id: string): Key | undefined {
    return this.#byId.get(id);
  }

  /** Whether somebody has signed out of a session. */
  hasEnded(session: string): boolean {
    return this.#ended.has(session);
  }

  /** Reads the store. A read that is running may have missed a change that was made before this call, so another one follows it. */
  read(): Promise<void> {
    if (!this.#reading) return this.#readNow();
    this.#nextRead ??= this.#reading
      .catch(() => {})
      .then(() => {
        this.#nextRead = undefined;
        return this.#reading ?? this.#readNow();
      });
    return this.#nextRead;
  }

  /** Reads the store because a key is unknown: it may be new. Returns undefined if the last read was a moment ago. */
  readForUnknown(): Promise<void> | undefined {
    return this.#clock.now() - this.#readAt > RETRY_MS ? this.read() : undefined;
  }

  /**
   * Reads the store if the last read is old. Busy nodes do so in the background. After a pause, the first requests
   * wait for the returned promise, because a key may have been revoked since. If the store is down, the last known
   * keys stay valid.
   */
  refresh(): Promise<unknown> | undefined {
    const now = this.#clock.now();
    if (now - this.#readAt <= FRESH_MS) return undefined;
    const read = (this.#reading ?? this.#readNow()).catch(() => {});
    if (this.#waiting || now - Math.max(this.#readAt, this.#waitedAt) <= PAUSE_MS) {
      return this.#waiting;
    }
    this.#waitedAt = now;
    this.#waiting = Promise.race([read, sleep(TIMEOUT_MS, undefined, { ref: false })]).finally(
      () => {
        this.#waiting = undefined;
      },
    );
    return this.#waiting;
  }

  #readNow(): Promise<void> {
    this.#reading = Promise.all([this.#store.keys(), this.#store.endedSessions()])
      .then(([keys, ended]) => {
        this.#stored = keys;
        this.#ended = new Set(ended);
        this.#readAt = this.#clock.now();
        this.#index();
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  #index(): void {
    const configured = Object.entries(this.#configured).map(([name, { key, ...rest }]): Key => {
      return { id: `config:${name}`, name, hash: hashOf(key), ...rest };
    });
    const all: Key[] = [...this.#stored, ...configured];
    this.#byHash = new Map(all.map((key) => [key.hash, key]));
    this.#byId = new Map(all.map((key) => [key.id, key]));
  }
}

/** Age at which the keys are read again. */
const FRESH_MS = 2000;
/** Time without a read after which requests wait for the next one. */
const PAUSE_MS = 5000;
/** Longest time that a request waits for the store. */
const TIMEOUT_MS = 1000;
/** Shortest time between two reads because of unknown keys, which may be guessed. */
const RETRY_MS = 250;
