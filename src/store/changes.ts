import type { Change } from "./store.ts";

type Listener = (change: Change) => void;

/** The listeners of a store. */
export class Listeners {
  readonly #all = new Set<Listener>();

  /** Adds a listener and returns a function that removes it. */
  add(listener: Listener): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  tell(change: Change): void {
    for (const listener of this.#all) listener(change);
  }
}
