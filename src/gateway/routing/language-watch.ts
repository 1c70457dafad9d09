/**
 * Notices prompts in languages that an encoder trained on English makes little
 * of: routing then goes by price and by what all prompts have in common. A guess
 * on one prompt in `EVERY`, since it is the share of them that matters.
 */
export class LanguageWatch {
  #seen = 0;
  #looked = 0;
  #foreign = 0;

  see(text: string): void {
    if (this.#seen++ % EVERY !== 0) return;
    this.#looked = this.#looked * KEEP + 1;
    this.#foreign = this.#foreign * KEEP + Number(!looksEnglish(text));
  }

  /** Of the recent prompts; 0 until there are enough to say. */
  get foreignShare(): number {
    return this.#seen < ENOUGH ? 0 : this.#foreign / this.#looked;
  }
}

const EVERY = 8;
const KEEP = 0.98;
const ENOUGH = 100;

/**
 * Letters of another script, or many words and next to none of those that no
 * English text is without: one in four is usual, and German has "in" and "an" too.
 */
export function looksEnglish(text: string): boolean {
  const words = text.slice(0, 600).match(/\p{L}+/gu) ?? [];
  const lettersOf = (list: readonly string[]) => list.reduce((sum, { length }) => sum + length, 0);
  const latin = words.filter((word) => LATIN.test(word));
  if (lettersOf(latin) < lettersOf(words) / 2) return false;
  const known = words.filter((word) => ENGLISH.has(word.toLowerCase())).length;
  return words.length < FEW || known >= LEAST_SHARE * words.length;
}

const LATIN = /^\p{Script=Latin}/u;

const FEW = 8;
const LEAST_SHARE = 1 / 12;
const ENGLISH = new Set(
  "the of and to is in that for it with as on by this are be or from at an what how why which not".split(
    " ",
  ),
);
