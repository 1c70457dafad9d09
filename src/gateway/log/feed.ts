import type { FeedEvent } from "../../api/event.ts";

/** Receives an event and the key id of its owner. An event without an owner is for everybody. */
type Listener = (event: FeedEvent, owner: string | undefined) => void;

/** Passes events to the current listeners. Nothing is kept for later ones. */
export class Feed {
  readonly #listeners = new Set<Listener>();

  /** `make` is only called if somebody listens. */
  publish(owner: string | undefined, make: () => FeedEvent): void {
    if (this.#listeners.size === 0) return;
    const event = make();
    for (const listener of this.#listeners) listener(event, owner);
  }

  /** Returns a function that ends the subscription. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
