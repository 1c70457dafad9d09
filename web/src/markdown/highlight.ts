import hljs from "highlight.js/lib/common";

/** HTML of the code with classes; undefined if the language is unknown. */
export function highlight(code: string, lang: string): string | undefined {
  if (!hljs.getLanguage(lang)) return undefined;
  return hljs.highlight(code, { language: lang, ignoreIllegals: true }).value;
}
