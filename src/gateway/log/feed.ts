import type { FeedEvent } from "../../api/event.ts";
import { ALONE, type Peers } from "../peers/peers.ts";

/** Receives an event and the key id of its owner. An event without an owner is for everybody. */
type Listener = (event: FeedEvent, owner: string | undefined) => void;

/**
 * Passes events to the current listeners, in all processes of this machine. Nothing is kept for
 * later ones.
 */
export class Feed {
  readonly #listeners = new Set<Listener>();
  readonly #peers: Peers;
  /** Ids of the other processes that have listeners. */
  readonly #listening = new Set<string>();

  constructor(peers: Peers = ALONE) {
    this.#peers = peers;
    peers.on("event", ([event, owner]: [FeedEvent, string | undefined]) =>
      this.#pass(event, owner),
    );
    peers.on("listening", ([id, isListening]: [string, boolean]) => {
      if (isListening) this.#listening.add(id);
      else this.#listening.delete(id);
    });
    peers.onGone((id) => this.#listening.delete(id));
  }

  /** Publishes an event. `make` is only called if somebody listens. */
  publish(owner: string | undefined, make: () => FeedEvent): void {
    if (this.#listeners.size === 0 && this.#listening.size === 0) return;
    const event = make();
    this.#pass(event, owner);
    if (this.#listening.size > 0) this.#peers.tell("event", [event, owner]);
  }

  /** Publishes an event that every process notices by itself. */
  publishHere(make: () => FeedEvent): void {
    if (this.#listeners.size > 0) this.#pass(make(), undefined);
  }

  /** Returns a function that ends the subscription. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#announce();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#announce();
    };
  }

  #announce(): void {
    const { id } = this.#peers;
    this.#peers.keep("listening", `listening ${id}`, [id, this.#listeners.size > 0]);
  }

  #pass(event: FeedEvent, owner: string | undefined): void {
    for (const listener of this.#listeners) listener(event, owner);
  }
}
