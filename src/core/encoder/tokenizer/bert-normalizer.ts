/** BERT's view of a text: what is dropped, what is folded, and where words end. */

export interface NormalizerOptions {
  /** Drop control characters; every blank becomes a space. */
  readonly cleanText: boolean;
  /** Each ideograph is a word of its own. */
  readonly handleChineseChars: boolean;
  /** null: where lowercase is on. */
  readonly stripAccents: boolean | null;
  readonly lowercase: boolean;
}

/** In the library's order, which matters: a final sigma, for example, depends on what was dropped before. */
export function normalize(text: string, options: NormalizerOptions): string {
  let out = text;
  if (options.cleanText) out = out.replace(DROPPED, "").replace(BLANK, " ");
  if (options.handleChineseChars) out = out.replace(IDEOGRAPH, " $& ");
  if (options.lowercase) out = out.toLowerCase();
  if (options.stripAccents ?? options.lowercase) out = out.normalize("NFD").replace(ACCENT, "");
  return out;
}

// Tab and line breaks are control characters too, but blanks here.
const DROPPED = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu;
const BLANK = /\s/g;
/** Without the planes beyond the first, as the library: two such ideographs in a row are one word. */
const IDEOGRAPH = /[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF]/g;
const ACCENT = /\p{Mn}/gu;
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/u;

/** What a character is to the pre-tokenizer: part of a word, between words, or a word by itself. */
export const WORD = 1;
export const SPACE = 2;
export const MARK = 3;

export function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  return /\s/.test(character) ? SPACE : PUNCTUATION.test(character) ? MARK : WORD;
}
