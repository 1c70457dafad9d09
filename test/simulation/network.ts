import type { Change, Store } from "../../src/store/store.ts";
import { StoreUnavailable } from "../../src/store/store-error.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** How often calls to the store fail, and how. All numbers are probabilities per call. */
export interface NetworkFaults {
  /** The call fails and has no effect. */
  readonly refused: number;
  /** The request never arrives. */
  readonly requestLost: number;
  /** The call takes effect, and its result never arrives. */
  readonly responseLost: number;
  /** Request or response takes seconds, longer than a lease or a timeout. */
  readonly late: number;
  readonly notificationLost: number;
  readonly notificationRepeated: number;
  readonly notificationLate: number;
}

export const NO_FAULTS: NetworkFaults = {
  refused: 0,
  requestLost: 0,
  responseLost: 0,
  late: 0,
  notificationLost: 0,
  notificationRepeated: 0,
  notificationLate: 0,
};

/** A process as the network sees it. */
export interface Peer extends Owner {
  /** True while nothing reaches the process, and nothing that it sends arrives. */
  readonly isCut: boolean;
}

/** Called after a call has taken effect, before its result is sent back. */
export type OnExecuted = (name: string, args: readonly unknown[], result: unknown) => Promise<void>;

/** The network between the processes and the database, with latency and faults. */
export class Network {
  faults: NetworkFaults = NO_FAULTS;
  /** True while the database is not running. */
  isDown = false;
  /** Factor of all latencies. */
  slowness = 1;
  /** Number of appends and erasures that are still to be executed. */
  pendingWrites = 0;
  readonly #scheduler: Scheduler;
  readonly #database: Store;
  readonly #onExecuted: OnExecuted;
  readonly #listeners = new Map<(change: Change) => void, Peer>();
  readonly #unsubscribe: () => void;

  constructor(scheduler: Scheduler, database: Store, onExecuted: OnExecuted = async () => {}) {
    this.#scheduler = scheduler;
    this.#database = database;
    this.#onExecuted = onExecuted;
    this.#unsubscribe = database.onChange((change) => this.#notify(change));
  }

  close(): void {
    this.#unsubscribe();
  }

  /** The store as one process reaches it. */
  storeOf(peer: Peer, shared: boolean): Store {
    let isClosed = false;
    const local: Pick<Store, "shared" | "onChange" | "close"> = {
      shared,
      onChange: (listener) => {
        this.#listeners.set(listener, peer);
        return () => void this.#listeners.delete(listener);
      },
      close: async () => {
        isClosed = true;
      },
    };
    return new Proxy(local as Store, {
      get: (own, name) => {
        if (name in own) return Reflect.get(own, name);
        if (typeof name === "symbol" || name === "then") return undefined;
        return async (...args: unknown[]) => {
          if (isClosed) throw new StoreUnavailable("it is closed");
          return this.#call(peer, name, args);
        };
      },
    });
  }

  #call(peer: Peer, name: string, args: readonly unknown[]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const { requestLost, responseLost, refused } = this.faults;
    const fail = (reason: string, after: number) =>
      void this.#scheduler.after(
        after,
        () => {
          this.#note(peer, `${name} failed: ${reason}`);
          reject(new StoreUnavailable(reason));
        },
        peer,
      );
    const sentAt = this.#scheduler.time;
    const isLost = peer.isCut || this.#scheduler.chance(requestLost);
    const requestMs = this.#latency();
    if (isLost || requestMs > TIMEOUT_MS) fail("no response", TIMEOUT_MS);
    if (isLost) return promise;
    const isWrite = WRITES.has(name);
    if (isWrite) this.pendingWrites++;
    this.#scheduler.after(requestMs, async () => {
      if (isWrite) this.pendingWrites--;
      const isLate = requestMs > TIMEOUT_MS;
      if (this.isDown || this.#scheduler.chance(refused)) {
        if (!isLate) fail("refused", this.#latency());
        return;
      }
      const outcome = await this.#execute(peer, name, args);
      if (isLate) return;
      const responseMs = this.#latency();
      const waited = this.#scheduler.time - sentAt;
      const isAnswerLost = peer.isCut || this.#scheduler.chance(responseLost);
      if (isAnswerLost || waited + responseMs > TIMEOUT_MS) {
        fail("no response", TIMEOUT_MS - waited);
        return;
      }
      const settle = () => ("error" in outcome ? reject(outcome.error) : resolve(outcome.result));
      this.#scheduler.after(responseMs, settle, peer);
    });
    return promise;
  }

  async #execute(peer: Peer, name: string, args: readonly unknown[]): Promise<Outcome> {
    try {
      const method = Reflect.get(this.#database, name) as (...args: unknown[]) => Promise<unknown>;
      const result = await method.apply(this.#database, [...args]);
      if (this.#scheduler.trace) this.#note(peer, `${name} ${describe(result)}`);
      await this.#onExecuted(name, args, result);
      return { result };
    } catch (error) {
      this.#note(peer, `${name} threw ${(error as Error).name}`);
      return { error };
    }
  }

  #notify(change: Change): void {
    const { notificationLost, notificationRepeated, notificationLate } = this.faults;
    for (const [listener, peer] of this.#listeners) {
      if (peer.isDead) this.#listeners.delete(listener);
      const copies = this.#scheduler.chance(notificationRepeated) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        if (this.isDown || this.#scheduler.chance(notificationLost)) continue;
        const isLate = this.#scheduler.chance(notificationLate);
        const latency = isLate ? this.#scheduler.between(100, 3000) : this.#latency();
        const deliver = () => {
          if (!peer.isCut && this.#listeners.has(listener)) listener(change);
        };
        this.#scheduler.after(latency, deliver, peer);
      }
    }
  }

  #latency(): number {
    if (this.#scheduler.chance(this.faults.late)) return this.#scheduler.between(200, 2500);
    return this.slowness * this.#scheduler.between(0.2, 8);
  }

  #note(peer: Peer, text: string): void {
    this.#scheduler.note(peer.name, text);
  }
}

type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** Time after which a caller no longer waits for the store. */
const TIMEOUT_MS = 700;

const WRITES = new Set(["append", "forget"]);

/** A result in one short line of the trace. */
function describe(result: unknown): string {
  if (Array.isArray(result)) return `[${result.map(describe).join(", ")}]`;
  if (typeof result !== "object" || result === null) return String(result);
  const { kind, status, position } = result as Readonly<Record<string, unknown>>;
  const name = kind ?? status ?? "snapshot";
  return position === undefined ? String(name) : `${name} at ${position}`;
}
