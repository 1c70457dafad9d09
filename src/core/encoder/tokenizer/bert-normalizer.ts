/** BERT's text normalisation and its classes of characters. */

export interface NormalizerOptions {
  /** Remove control characters and turn all whitespace into spaces. */
  readonly cleanText: boolean;
  /** Make each ideograph a word of its own. */
  readonly handleChineseChars: boolean;
  /** Remove accents. null means: if `lowercase` is set. */
  readonly stripAccents: boolean | null;
  readonly lowercase: boolean;
}

/** The steps have the order of Hugging Face's tokenizers: a final sigma, for example, depends on removed characters. */
export function normalize(text: string, options: NormalizerOptions): string {
  let out = text;
  if (options.cleanText) out = out.replace(REMOVED, "").replace(WHITESPACE, " ");
  if (options.handleChineseChars) out = out.replace(IDEOGRAPH, " $& ");
  if (options.lowercase) out = out.toLowerCase();
  if (options.stripAccents ?? options.lowercase) out = out.normalize("NFD").replace(ACCENT, "");
  return out;
}

/** Control characters except tab and line breaks, which count as whitespace. */
const REMOVED = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu;
const WHITESPACE = /\s/g;
/** Ideographs of the first Unicode plane, as in Hugging Face's tokenizers: two ideographs beyond it are one word. */
const IDEOGRAPH = /[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF]/g;
const ACCENT = /\p{Mn}/gu;
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/u;

/** Classes of characters: part of a word, between words, or (punctuation) a word by itself. */
export const WORD = 1;
export const SPACE = 2;
export const MARK = 3;

export function classify(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  return /\s/.test(character) ? SPACE : PUNCTUATION.test(character) ? MARK : WORD;
}
