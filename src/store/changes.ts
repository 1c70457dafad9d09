import type { Change } from "./store.ts";

type Listener = (change: Change) => void;

/** Those who want to know of changes. */
export class Listeners {
  readonly #all = new Set<Listener>();

  add(listener: Listener): () => void {
    this.#all.add(listener);
    return () => void this.#all.delete(listener);
  }

  tell(change: Change): void {
    for (const listener of this.#all) listener(change);
  }
}

/** The last vote or control that an append has logged for each router. */
export class Appended {
  readonly #positions = new Map<string, number>();

  note(router: string, kind: string, position: number): void {
    if (kind === "routed" || kind === "answered") return;
    this.#positions.set(router, Math.max(position, this.#positions.get(router) ?? 0));
  }

  changes(): Change[] {
    return [...this.#positions].map(([router, position]) => ({ router, what: "log", position }));
  }
}
