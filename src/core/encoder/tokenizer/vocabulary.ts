/**
 * The tokens of a WordPiece model: a hash table with open addressing over the
 * UTF-16 units of a word in a buffer. A Map would need a string per lookup and
 * hash it again; this table takes the hash that was computed while the word was
 * read. Building it from 30,522 tokens takes a few milliseconds.
 */
export class Vocabulary {
  /** Length of the longest token in UTF-16 units. */
  readonly longest: number;
  /** Hash of the prefix of tokens that continue a word. */
  readonly continuing: number;
  /** Units of all tokens, one after another. Token `id` has units[starts[id]] to units[starts[id + 1] - 1]. */
  readonly #units: Uint16Array;
  readonly #starts: Uint32Array;
  /** slots[hash & mask], or the next free slot, holds id + 1; 0 is a free slot. */
  readonly #slots: Uint32Array;
  readonly #mask: number;
  readonly #prefix: Uint16Array;

  /** `tokens[id]` is the token, or "" if the id is not used. */
  constructor(tokens: readonly string[], continuingPrefix: string) {
    const { length } = continuingPrefix;
    this.#prefix = Uint16Array.from({ length }, (_, i) => continuingPrefix.charCodeAt(i));
    this.continuing = this.#prefix.reduce(step, START);
    this.#units = new Uint16Array(tokens.reduce((sum, { length }) => sum + length, 0));
    this.#starts = new Uint32Array(tokens.length + 1);
    this.#mask = 2 ** Math.ceil(Math.log2(2 * tokens.length + 1)) - 1;
    this.#slots = new Uint32Array(this.#mask + 1);
    let longest = 0;
    let end = 0;
    for (const [id, token] of tokens.entries()) {
      let hash = START;
      for (let i = 0; i < token.length; i++) {
        const unit = token.charCodeAt(i);
        this.#units[end++] = unit;
        hash = step(hash, unit);
      }
      this.#starts[id + 1] = end;
      if (token === "") continue;
      let slot = mix(hash) & this.#mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = id + 1;
      longest = Math.max(longest, token.length);
    }
    this.longest = longest;
  }

  /**
   * Returns the id of word[from..to), preceded by the prefix if it continues a
   * word, or -1 if there is no such token. `hash` is step() over the units,
   * starting from START or `continuing`.
   */
  find(hash: number, word: Uint16Array, from: number, to: number, continues: boolean): number {
    const skip = continues ? this.#prefix.length : 0;
    for (let slot = mix(hash) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const id = this.#slots[slot]! - 1;
      if (id < 0) return -1;
      const start = this.#starts[id]!;
      if (this.#starts[id + 1]! - start !== skip + to - from) continue;
      if (this.#equals(start, skip, word, from, to)) return id;
    }
  }

  #equals(start: number, skip: number, word: Uint16Array, from: number, to: number): boolean {
    const units = this.#units;
    for (let i = 0; i < skip; i++) if (units[start + i] !== this.#prefix[i]) return false;
    const shift = start + skip - from;
    for (let i = from; i < to; i++) if (units[i + shift] !== word[i]) return false;
    return true;
  }
}

/** FNV-1a, one unit at a time. */
export const START = 0x811c9dc5 | 0;
export function step(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

/** The low bits of FNV-1a hardly depend on its high bits, so they are mixed. */
function mix(hash: number): number {
  return hash ^ (hash >>> 15);
}
