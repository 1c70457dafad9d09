/**
 * Estimates the share of prompts that are not in English. An encoder trained on English cannot
 * distinguish their categories. One prompt in `EVERY` is checked, because only the share matters.
 */
export class LanguageWatch {
  #seen = 0;
  #checked = 0;
  #foreign = 0;

  observe(text: string): void {
    if (this.#seen++ % EVERY !== 0) return;
    this.#checked = this.#checked * KEEP_PROMPT + 1;
    this.#foreign = this.#foreign * KEEP_PROMPT + Number(!looksEnglish(text));
  }

  /** Share among the recent prompts; 0 until there are enough. */
  get foreignShare(): number {
    return this.#seen < ENOUGH ? 0 : this.#foreign / this.#checked;
  }
}

const EVERY = 8;
const KEEP_PROMPT = 0.98;
const ENOUGH = 100;

/**
 * Whether a text seems to be English: most letters are Latin and, unless the text is short, at
 * least one word in twelve is a common English word. In English it is one in four; German also
 * has "in" and "an".
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
