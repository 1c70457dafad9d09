import type { StaticTokenizer } from "./static-table.ts";

/**
 * Estimates how often each token occurs, without any text. BERT's vocabularies
 * start with special tokens and single characters, followed by words and pieces in
 * the order of falling frequency. Zipf's law with Mandelbrot's offset gives the
 * r-th of these a frequency of 1 / (r + OFFSET). ASCII characters (punctuation,
 * digits) are assumed to be as frequent as the first word and other characters as
 * the last. Placeholders such as [unused7] and [PAD] never occur.
 */
export function tokenFrequencies({ tokens, added }: StaticTokenizer): Float64Array {
  const special = new Set(added.map(({ id }) => id));
  const out = new Float64Array(tokens.length);
  let rank = 0;
  for (const [id, token] of tokens.entries()) {
    if (token === "" || special.has(id) || UNUSED.test(token) || isCharacter(token)) continue;
    out[id] = 1 / (rank++ + OFFSET);
  }
  for (const [id, token] of tokens.entries()) {
    if (special.has(id) || !isCharacter(token)) continue;
    out[id] = 1 / (OFFSET + (token.codePointAt(0)! < 128 ? 0 : rank));
  }
  return out;
}

const OFFSET = 30;
const UNUSED = /^\[unused\d+\]$/;

function isCharacter(token: string): boolean {
  return token.length > 0 && token.length === (token.codePointAt(0)! > 0xffff ? 2 : 1);
}
