import { BATCH, type StoredResponses } from "./stored-responses.ts";

/** Reads stored texts one after the other, and fetches many of them with one query. */
export class BatchReader {
  readonly #store: Pick<StoredResponses, "text" | "texts">;
  readonly #owner: string | undefined;
  /** Ids of the last batch, and the texts that were found. */
  #ids: ReadonlySet<string> = new Set();
  #texts: ReadonlyMap<string, string> = new Map();

  constructor(store: Pick<StoredResponses, "text" | "texts">, owner: string | undefined) {
    this.#store = store;
    this.#owner = owner;
  }

  /** The text of an id. `next` are the ids that will probably be read after it, in their order. */
  async read(id: string, next: readonly string[]): Promise<string | undefined> {
    if (!this.#ids.has(id) && next.length > 0) {
      this.#ids = new Set([id, ...next.slice(0, BATCH - 1)]);
      this.#texts = await this.#store.texts([...this.#ids], this.#owner);
    }
    return this.#texts.get(id) ?? (await this.#store.text(id, this.#owner));
  }
}
