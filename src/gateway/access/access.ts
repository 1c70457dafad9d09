import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Scope } from "../../api/scopes.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock/clock.ts";
import type { Config } from "../config/config.ts";
import { ALONE, type Peers } from "../peers/peers.ts";
import { HttpError } from "../wire/http-error.ts";
import { Budgets, type Reservation } from "./budgets.ts";
import { clientAddress } from "./client-address.ts";
import { Concurrency, type Concurrent, tooManyConcurrent } from "./concurrency.ts";
import { type Key, KeyRing } from "./key-ring.ts";
import { allows, hashOf, newSecret, secretOf } from "./keys.ts";
import { RateLimit } from "./rate-limit.ts";
import { insufficientScope, SIGN_IN_HINT, unauthorized } from "./refusals.ts";
import { CSRF_HEADER, SAFE, type SignedIn, type SignIn, SignIns } from "./sign-ins.ts";

/** Sender of a request. */
export interface Caller {
  /** Id of the API key; undefined without a key. */
  readonly owner: string | undefined;
  /** Name of the API key; undefined without a key. */
  readonly name?: string | undefined;
  readonly isAdmin: boolean;
  /**
   * Whether requests that did not ask for a duel also get a second answer, which the client can
   * fetch later.
   */
  readonly duels?: boolean | "auto" | undefined;
  /** Limit of concurrent requests. */
  readonly concurrent?: number | undefined;
  /** US dollars per month. */
  readonly budget?: number | undefined;
  /** Models that may answer, and routers that may be named. Undefined: all. */
  readonly models?: readonly string[] | undefined;
  readonly routers?: readonly string[] | undefined;
}

/** Decides which requests are admitted: API keys with their scopes, rates and budgets. */
export class Access {
  readonly #keys: KeyRing;
  readonly #signIns: SignIns;
  readonly #spending: Budgets;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits = new Map<number, RateLimit>();
  /** Requests and event streams that have not ended, by kind and owner. */
  readonly #running: Concurrency;
  readonly #peers: Peers;
  #config: Pick<Config, "keys" | "server">;

  private constructor(
    config: Pick<Config, "keys" | "server">,
    store: Store,
    clock: Clock,
    peers: Peers,
    secret: Uint8Array,
  ) {
    this.#config = config;
    this.#keys = new KeyRing(config.keys, store, clock);
    this.#signIns = new SignIns(secret, (id) => this.#keys.withId(id)?.hash);
    this.#store = store;
    this.#clock = clock;
    this.#peers = peers;
    this.#running = new Concurrency(peers.limits);
    this.#spending = new Budgets(store, randomUUID(), () => clock.date());
    peers.answer("keys", () => this.#keys.read());
  }

  static async open(
    config: Pick<Config, "keys" | "server">,
    store: Store,
    clock: Clock,
    peers: Peers = ALONE,
  ): Promise<Access> {
    const access = new Access(config, store, clock, peers, await store.secret("sessions"));
    await access.#keys.read();
    return access;
  }

  /** Creates a key that is valid as long as the gateway runs, in all of its processes, and returns its secret. */
  addInternalKey(id: string, scopes: readonly Scope[]): string {
    const { secret = newSecret() } = this.#peers;
    this.#keys.addInternal(id, secret, scopes);
    return secret;
  }

  configure(config: Pick<Config, "keys" | "server">): void {
    this.#config = config;
    this.#keys.configure(config.keys);
  }

  /** Whether there is no key. Then every request is admitted, but only from this machine. */
  get isOpen(): boolean {
    return this.#keys.isEmpty;
  }

  /** Whether there would be no key with another configuration. Reads the stored keys. */
  isOpenWith({ keys }: Pick<Config, "keys">): Promise<boolean> {
    return this.#keys.isEmptyWith(keys);
  }

  /** Makes a change of the stored keys known in all processes of this machine. */
  async read(): Promise<void> {
    await Promise.all([this.#keys.read(), this.#peers.ask("keys")]);
  }

  /** Reads the stored keys again if they are old. Returns a promise only if a request must wait for them. */
  refresh(): Promise<unknown> | undefined {
    return this.#keys.refresh();
  }

  /**
   * Identifies the caller of a request. Throws 401, 403 or 429 if it is not admitted. Returns
   * a promise only if the keys must be read first.
   */
  admit(
    headers: Readonly<Record<string, unknown>>,
    scope: Scope,
    method: string,
  ): Caller | Promise<Caller> {
    const refreshed = this.refresh();
    if (refreshed) return refreshed.then(() => this.#identify(headers, scope, method));
    return this.#identify(headers, scope, method);
  }

  /**
   * Whether the caller of a long response would still be admitted with the same rights: its key or session is valid,
   * has the scope, and may use the same models and routers. Does not count as a request.
   */
  async stillAdmits(
    headers: Readonly<Record<string, unknown>>,
    scope: Scope,
    caller: Caller,
  ): Promise<boolean> {
    await this.refresh();
    if (this.isOpen) return caller.owner === undefined;
    const secret = secretOf(headers);
    const key =
      secret === undefined ? this.#keyOfSession(headers) : this.#keys.withHash(hashOf(secret));
    if (!key || key.revokedAt !== undefined || !allows(key, scope)) return false;
    const now = callerOf(key);
    return RIGHTS.every((right) => isDeepStrictEqual(now[right], caller[right]));
  }

  #keyOfSession(headers: Readonly<Record<string, unknown>>): Key | undefined {
    const signIn = this.#signIns.in(headers.cookie);
    return signIn && this.#endOf(signIn) === undefined ? this.#keys.withId(signIn.key) : undefined;
  }

  /** Whether a request has a key, valid or not, or a valid session. */
  hasCredentials(headers: Readonly<Record<string, unknown>>): boolean {
    return secretOf(headers) !== undefined || this.#keyOfSession(headers) !== undefined;
  }

  /** Signs in with an API key. Throws 401 if the key is not valid. */
  async signIn(secret: string): Promise<SignedIn> {
    await this.#keys.read();
    const key = this.#keys.withHash(hashOf(secret));
    if (!key) throw unauthorized("the API key is unknown", SIGN_IN_HINT);
    if (key.revokedAt !== undefined) throw unauthorized("the API key was revoked", SIGN_IN_HINT);
    const lifetime = 3_600_000 * this.#config.server.session_hours;
    return this.#signedIn(this.#signIns.issue(key.id, this.#clock.date() + lifetime), key);
  }

  /** The session of a request; undefined if it has none or the session has ended. */
  async signedIn(headers: Readonly<Record<string, unknown>>): Promise<SignedIn | undefined> {
    await this.refresh();
    if (this.isOpen) return undefined;
    const name = this.#signIns.in(headers.cookie)?.key;
    const isUnknown = name !== undefined && !this.#keys.withId(name);
    if (isUnknown) await this.#keys.readForUnknown()?.catch(() => {});
    const signIn = this.#signIns.in(headers.cookie);
    if (!signIn || this.#endOf(signIn) !== undefined) return undefined;
    return this.#signedIn(signIn, this.#keys.withId(signIn.key)!);
  }

  /** Ends the session of a request on all nodes, if it has one. */
  async signOut(headers: Readonly<Record<string, unknown>>): Promise<void> {
    const signIn = this.#signIns.in(headers.cookie);
    if (!signIn || this.#endOf(signIn) !== undefined) return;
    this.#checkCsrf(signIn, headers);
    await this.#store.endSession(signIn.id, signIn.expiresAt);
    await this.read();
  }

  #signedIn(signIn: SignIn, { name, scopes }: Key): SignedIn {
    const token = this.#signIns.tokenOf(signIn);
    const { expiresAt } = signIn;
    return { name, scopes, expiresAt, token, csrf: this.#signIns.csrfOf(signIn) };
  }

  /** Reason why a session is not valid; undefined if it is valid. */
  #endOf({ id, key, expiresAt }: SignIn): string | undefined {
    if (this.#keys.withId(key)?.revokedAt !== undefined) return "the API key was revoked";
    if (expiresAt <= this.#clock.date()) return "the session has expired";
    return this.#keys.hasEnded(id) ? "the session was ended" : undefined;
  }

  #checkCsrf(signIn: SignIn, headers: Readonly<Record<string, unknown>>): void {
    if (this.#signIns.hasCsrf(signIn, headers[CSRF_HEADER])) return;
    throw new HttpError(403, `a request with a session must have the header ${CSRF_HEADER}`, {
      hint: "send `csrf` of GET /v1/session as its value, or use an API key instead of a session",
      code: "csrf_token_missing",
      param: CSRF_HEADER,
    });
  }

  #identify(
    headers: Readonly<Record<string, unknown>>,
    scope: Scope,
    method: string,
  ): Caller | Promise<Caller> {
    if (this.isOpen) return after(this.#limit("", undefined), EVERYBODY);
    const secret = secretOf(headers);
    if (secret !== undefined) {
      const hash = hashOf(secret);
      const caller = () => this.#callerWith(this.#keys.withHash(hash), scope);
      return this.#onceKnown(this.#keys.withHash(hash), caller);
    }
    const signIn = this.#signIns.in(headers.cookie);
    if (!signIn) throw unauthorized("the request has no API key");
    const caller = () => this.#callerOfSession(headers, scope, method);
    return this.#onceKnown(this.#keys.withId(signIn.key), caller);
  }

  /** Returns a caller at once if its key is known, and otherwise after a read of the keys. */
  #onceKnown(
    key: Key | undefined,
    caller: () => Caller | Promise<Caller>,
  ): Caller | Promise<Caller> {
    const read = key ? undefined : this.#keys.readForUnknown();
    return read ? read.then(caller) : caller();
  }

  #callerOfSession(
    headers: Readonly<Record<string, unknown>>,
    scope: Scope,
    method: string,
  ): Caller | Promise<Caller> {
    const signIn = this.#signIns.in(headers.cookie)!;
    const end = this.#endOf(signIn);
    if (end !== undefined) throw unauthorized(end, SIGN_IN_HINT, "session_ended");
    if (!SAFE.has(method)) this.#checkCsrf(signIn, headers);
    return this.#callerWith(this.#keys.withId(signIn.key), scope);
  }

  #callerWith(key: Key | undefined, scope: Scope): Caller | Promise<Caller> {
    if (!key) throw unauthorized("the API key is unknown");
    if (key.revokedAt !== undefined) throw unauthorized("the API key was revoked");
    if (!allows(key, scope)) throw insufficientScope(scope);
    return after(this.#limit(key.id, key.rate), callerOf(key));
  }

  /**
   * Sets aside the most that a request can cost. Returns undefined if the caller has no budget.
   * Throws 429 if the budget does not allow it, and 403 if the cost is unknown and
   * `server.unpriced` does not allow an estimate.
   */
  async reserve(
    { owner, budget }: Caller,
    models: readonly Billed[],
  ): Promise<Reservation | undefined> {
    if (owner === undefined || budget === undefined) return undefined;
    let most = 0;
    for (const { name, mostCost } of models) {
      if (mostCost === undefined && this.#config.server.unpriced === "refuse") throw unpriced(name);
      most += mostCost ?? UNPRICED_COST;
    }
    return this.#spending.reserve(owner, budget, most);
  }

  /** Gives all leased parts of budgets back to the store. */
  close(): Promise<void> {
    return this.#spending.close();
  }

  /**
   * Counts a request with a prompt, or a stream of events, until the returned function is called.
   * Throws 429 if the caller has too many of them at a time. Returns a promise only if this process
   * must ask the others for a part of the limit.
   */
  begin({ owner = "", concurrent }: Caller, kind: Concurrent): (() => void) | Promise<() => void> {
    const limit =
      kind === "events" ? MAX_EVENT_STREAMS : (concurrent ?? this.#config.server.concurrent);
    const checked = (end: (() => void) | undefined) => {
      if (end) return end;
      throw tooManyConcurrent(kind, limit, owner, concurrent);
    };
    const begun = this.#running.begin(`${kind} ${owner}`, limit);
    return begun instanceof Promise ? begun.then(checked) : checked(begun);
  }

  /** Limits the rate of votes without an API key, by IP address. */
  limitAnonymous(address: string): void | Promise<void> {
    return this.#take(ANONYMOUS_PER_MINUTE, clientAddress(address));
  }

  #limit(client: string, own: number | undefined): void | Promise<void> {
    const rate = own ?? this.#config.server.rate;
    if (rate !== undefined) return this.#take(rate, client);
  }

  /** Throws 429 if the client has reached its rate. Returns a promise if processes share the limits. */
  #take(rate: number, client: string): void | Promise<void> {
    const check = (wait: number) => {
      if (wait === 0) return;
      throw new HttpError(429, `more than ${rate} requests per minute`, {
        hint: `try again in ${Math.ceil(wait)} s`,
        code: "rate_limit_exceeded",
        retryAfter: wait,
      });
    };
    const { limits } = this.#peers;
    if (limits) return limits.take(rate, client).then(check);
    const limit = this.#limits.get(rate) ?? new RateLimit(rate);
    this.#limits.set(rate, limit);
    check(limit.take(client, this.#clock.now()));
  }
}

/** Rights on which a long response depends. */
const RIGHTS = ["owner", "isAdmin", "models", "routers"] as const;

function callerOf(key: Key): Caller {
  const { id, name, scopes, duels, concurrent, budget, models, routers } = key;
  const isAdmin = scopes.includes("admin");
  return { owner: id, name, isAdmin, duels, concurrent, budget, models, routers };
}

/** The value, after a check that may be asynchronous. */
function after<T>(checked: void | Promise<void>, value: T): T | Promise<T> {
  return checked ? checked.then(() => value) : value;
}

/** A model that a request may call, and the most that its answer can cost; undefined without a price. */
export interface Billed {
  readonly name: string;
  readonly mostCost: number | undefined;
}

/** US dollars that an answer without a price counts as: about 10,000 tokens of an expensive model. */
export const UNPRICED_COST = 0.3;

function unpriced(model: string): HttpError {
  return new HttpError(403, `${model} has no price, and this API key has a budget`, {
    hint: `set models.${model}.price in joust.yaml, or server.unpriced: estimate`,
    code: "unpriced_model",
    param: "model",
  });
}

/** Caller of every request while there is no key. */
const EVERYBODY: Caller = { owner: undefined, isAdmin: true };
const ANONYMOUS_PER_MINUTE = 120;
const MAX_EVENT_STREAMS = 50;
