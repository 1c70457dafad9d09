import type { StaticTokenizer } from "./static-table.ts";

/**
 * How often each token is met, estimated without any text. BERT's vocabularies
 * begin with special tokens and single characters; then words and pieces come,
 * the most frequent first. Zipf's law, with Mandelbrot's offset, gives the r-th
 * of those a share of 1 / (r + OFFSET). ASCII characters (marks, digits) are as
 * frequent as the first word, other characters as the last, and what only fills
 * the table, [unused7] or [PAD], never occurs.
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
