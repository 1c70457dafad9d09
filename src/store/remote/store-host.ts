import { Calls } from "../../core/processes/calls.ts";
import { messagesIn, payloadOf } from "../../core/processes/link.ts";
import type { Change, Store } from "../store.ts";

/** Sends a payload to a client. */
type SendTo = (client: number, payload: Uint8Array) => void;

/**
 * A store that other processes use. Each of them is a client with a number and has a
 * `RemoteStore`. Payloads are those of a link (core/processes/link.ts).
 */
export class StoreHost {
  readonly #store: Store;
  readonly #send: SendTo;
  readonly #clients = new Map<number, HostedClient>();
  readonly #stop: () => void;

  constructor(store: Store, send: SendTo) {
    this.#store = store;
    this.#send = send;
    this.#stop = store.onChange((change) => this.#announce(change));
  }

  /** Handles the calls in a payload of a client. */
  receive(client: number, payload: Uint8Array): void {
    const { calls } = this.#clientOf(client);
    for (const message of messagesIn(payload)) calls.receive(message);
  }

  /** Releases the leases of a client that has ended, so that another one can learn at once. */
  async remove(client: number): Promise<void> {
    const leases = this.#clients.get(client)?.leases ?? [];
    this.#clients.delete(client);
    for (const [router, token] of leases) await this.#store.releaseLease(router, token);
  }

  close(): void {
    this.#stop();
  }

  #announce(change: Change): void {
    for (const { calls } of this.#clients.values()) calls.notify("changed", change);
  }

  #clientOf(client: number): HostedClient {
    const known = this.#clients.get(client);
    if (known) return known;
    const leases = new Map<string, number>();
    // Messages of one round of the event loop share a payload.
    let waiting: unknown[] = [];
    const send = (message: unknown) => {
      if (waiting.length === 0) {
        setImmediate(() => {
          this.#send(client, payloadOf(waiting));
          waiting = [];
        });
      }
      waiting.push(message);
    };
    const handlers = withLeases(this.#store, leases);
    const added = { leases, calls: new Calls({ send, handlers }) };
    this.#clients.set(client, added);
    return added;
  }
}

interface HostedClient {
  /** Tokens of the leases that the client has acquired, by router. */
  readonly leases: Map<string, number>;
  readonly calls: Calls;
}

/** The methods of a store for one client, whose leases are noted. */
function withLeases(store: Store, leases: Map<string, number>): object {
  const own: Pick<Store, "acquireLease" | "releaseLease"> & { subscribe(): void } = {
    async acquireLease(router, ...rest) {
      const token = await store.acquireLease(router, ...rest);
      if (token !== undefined) leases.set(router, token);
      return token;
    },
    async releaseLease(router, token) {
      await store.releaseLease(router, token);
      if (leases.get(router) === token) leases.delete(router);
    },
    subscribe() {},
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const method: unknown = Reflect.get(target, name);
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}
