import type { TokenizerAndRendererExtension } from "marked";

/**
 * LaTeX in answers: `$$..$$` and `\[..\]` for displayed formulas, `$..$` and `\(..\)` inside a line. The HTML contains
 * the source, which math.ts replaces by the formula; without it the source stays readable.
 */
export const MATH: readonly TokenizerAndRendererExtension[] = [
  {
    name: "displayMath",
    level: "block",
    start: (text) => indexOf(text, /(?<=^|\n) {0,3}(?:\$\$|\\\[)/),
    tokenizer: (text) => tokenOf("displayMath", DISPLAY_BLOCK.exec(text)),
    renderer: ({ text }) => `<p>${span("math-display", text as string)}</p>\n`,
  },
  {
    name: "math",
    level: "inline",
    start: (text) => indexOf(text, /\$|\\[([]/),
    tokenizer: (text) => {
      const display = tokenOf("math", DISPLAY.exec(text));
      return display ? { ...display, isDisplay: true } : tokenOf("math", INLINE.exec(text));
    },
    renderer: ({ text, isDisplay }) =>
      span(isDisplay === true ? "math-display" : "math-inline", text as string),
  },
];

/** Whether a text may contain formulas, and not so many marks of formulas that reading them would take seconds. */
export function mayHaveMath(text: string): boolean {
  let marks = 0;
  for (const _ of text.matchAll(/\$|\\[([]/g)) if (++marks > MOST_MARKS) return false;
  return marks > 0;
}

const MOST_MARKS = 1000;

/** Delimiters of formulas. A formula of more than 4,000 characters stays text. */
const DISPLAY = /^(?:\$\$((?:[^$\\]|\\[\s\S]){1,4000}?)\$\$|\\\[([\s\S]{1,4000}?)\\\])/;
const DISPLAY_BLOCK =
  /^ {0,3}(?:\$\$((?:[^$\\]|\\[\s\S]){1,4000}?)\$\$|\\\[([\s\S]{1,4000}?)\\\])[ \t]*(?:\n|$)/;
/** A single dollar is only a delimiter directly before and after the formula, and not before a digit: prices stay text. */
const INLINE =
  /^(?:\$(?![\s$])((?:[^$\\\n]|\\.){1,4000}?)(?<!\s)\$(?!\d)|\\\(([\s\S]{1,4000}?)\\\))/;

function tokenOf(type: string, match: RegExpExecArray | null) {
  const text = (match?.[1] ?? match?.[2])?.trim();
  if (!match || !text) return undefined;
  return { type, raw: match[0], text };
}

function indexOf(text: string, pattern: RegExp): number | undefined {
  const at = text.search(pattern);
  return at < 0 ? undefined : at;
}

function span(name: string, source: string): string {
  return `<span class="${name}">${source.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)}</span>`;
}
