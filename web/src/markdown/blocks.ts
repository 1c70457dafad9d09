import { Marked, type MarkedExtension, type Tokens } from "marked";
import { MATH, mayHaveMath } from "./math-syntax.ts";

/** A part of an answer that is rendered on its own, so that finished parts are not rendered again. */
export type Block = { readonly raw: string } & (
  | { readonly kind: "html"; readonly source: string; readonly html: string }
  | { readonly kind: "code"; readonly source: string; readonly code: string; readonly lang: string }
  | { readonly kind: "plain" }
);

/** Longer texts are shown as plain text, because rendering them as markdown takes seconds. */
export const MARKDOWN_LIMIT = 200_000;
/** Limits for a single block, such as a table, and for a single line. */
const BLOCK_LIMIT = 40_000;
const LINE_LIMIT = 20_000;
/** Long plain texts are split into pieces, so that the browser only lays out those in view. */
const PIECE = 16_000;

/** Splits an answer into blocks. `before`: the blocks of an earlier, shorter version; unchanged ones are reused. */
export function blocksOf(text: string, before: readonly Block[] = []): readonly Block[] {
  if (text.length > MARKDOWN_LIMIT || hasLongLine(text)) return plainPieces(text, before);
  const marked = mayHaveMath(text) ? withMath : plain;
  // Finds only the boundaries of the blocks. Their content is parsed once, when a block has changed.
  const tokens = new marked.Lexer(marked.defaults).blockTokens(text, []);
  const references = tokens.flatMap(({ type, raw }) => (type === "def" ? [raw] : [])).join("\n");
  return tokens
    .filter(({ type }) => type !== "space" && type !== "def")
    .map(({ raw }, i) => {
      const source = references !== "" && /\]/.test(raw) ? `${raw}\n\n${references}` : raw;
      const known = before[i];
      return known?.kind !== "plain" && known?.source === source
        ? known
        : blockOf(raw, source, marked);
    });
}

function blockOf(raw: string, source: string, marked: Marked): Block {
  if (raw.length > BLOCK_LIMIT) return { kind: "plain", raw };
  const tokens = marked.lexer(source);
  const [first] = tokens;
  if (first?.type === "code") {
    const { text, lang = "" } = first as Tokens.Code;
    return {
      kind: "code",
      raw,
      source,
      code: text,
      lang: /^[\w+#.-]*/.exec(lang)![0].toLowerCase(),
    };
  }
  return { kind: "html", raw, source, html: marked.parser(tokens) };
}

function plainPieces(text: string, before: readonly Block[]): Block[] {
  const pieces: Block[] = [];
  for (let at = 0; at < text.length; at += PIECE) {
    const raw = text.slice(at, at + PIECE);
    const known = before[pieces.length];
    pieces.push(known?.kind === "plain" && known.raw === raw ? known : { kind: "plain", raw });
  }
  return pieces;
}

function hasLongLine(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const next = end < 0 ? text.length : end;
    if (next - at > LINE_LIMIT) return true;
    at = next + 1;
  }
  return false;
}

/** HTML in an answer is shown as text. Images become links, so that the page never loads them. */
const OPTIONS: MarkedExtension = {
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
};
const plain = new Marked(OPTIONS);
const withMath = new Marked(OPTIONS, { extensions: [...MATH] });

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
