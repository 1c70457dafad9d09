/** What happens, told to whoever watches: the page, a terminal. */
export type FeedEvent =
  | { readonly type: "decision"; readonly data: object }
  | { readonly type: "answer"; readonly data: object }
  | { readonly type: "vote"; readonly data: object }
  | { readonly type: "posterior"; readonly data: object };

/** An event, and whose it is. Undefined: everybody's. */
export interface Told {
  readonly event: FeedEvent;
  readonly owner: string | undefined;
}

/** Nothing is kept: who comes later asks the log. */
export class Feed {
  readonly #listeners = new Set<(told: Told) => void>();

  /** Events are made only where somebody listens. */
  tell(owner: string | undefined, make: () => FeedEvent): void {
    if (this.#listeners.size === 0) return;
    const told = { event: make(), owner };
    for (const listener of this.#listeners) listener(told);
  }

  listen(listener: (told: Told) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
