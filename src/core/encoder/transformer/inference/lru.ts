/**
 * A cache that drops the least recently used entries above a number of bytes. A Map
 * keeps its keys in insertion order, so the first key is the oldest.
 */
export class Lru<V> {
  readonly #capacity: number;
  readonly #sizeOf: (key: string, value: V) => number;
  readonly #entries = new Map<string, V>();
  #bytes = 0;

  constructor(capacity: number, sizeOf: (key: string, value: V) => number) {
    this.#capacity = capacity;
    this.#sizeOf = sizeOf;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** An entry that exceeds the whole capacity is not stored. */
  set(key: string, value: V): void {
    this.#delete(key);
    const size = this.#sizeOf(key, value);
    if (size > this.#capacity) return;
    this.#entries.set(key, value);
    this.#bytes += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#capacity) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= this.#sizeOf(key, value);
  }
}
