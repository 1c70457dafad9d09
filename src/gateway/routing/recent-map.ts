/**
 * A map that forgets entries which have not been set for a long time: at most `most` entries are kept,
 * and at least half as many of the newest. Entries are forgotten many at a time, by dropping the older
 * of two maps. Deleting them one by one would be slow, because finding the first entry of a Map takes
 * time in proportion to the entries that were deleted before it.
 */
export class RecentMap<V> {
  #newer = new Map<string, V>();
  #older = new Map<string, V>();
  /** Largest number of entries. */
  most: number;

  constructor(most: number) {
    this.most = most;
  }

  get(key: string): V | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  set(key: string, value: V): void {
    this.#newer.set(key, value);
    if (2 * this.#newer.size < this.most) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }
}
