import type { StoredNode } from "../../store/administration.ts";
import type { Store } from "../../store/store.ts";

/** Tells the store at intervals that this node is alive, so that the page can list all nodes. */
export class NodeBeacon {
  readonly #store: Pick<Store, "saveNode" | "deleteNode">;
  readonly #node: () => Omit<StoredNode, "seen">;
  readonly #timer = setInterval(() => this.send(), BEACON_MS).unref();
  #sending: Promise<void> = Promise.resolve();

  constructor(store: Pick<Store, "saveNode" | "deleteNode">, node: () => Omit<StoredNode, "seen">) {
    this.#store = store;
    this.#node = node;
    this.send();
  }

  /** Errors are ignored: the next sign of life follows soon. */
  send(): void {
    this.#sending = this.#sending.then(() => this.#store.saveNode(this.#node())).catch(() => {});
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#store.deleteNode(this.#node().id).catch(() => {});
  }
}

export const BEACON_MS = 10_000;
