import type { AddedToken } from "./tokenizer-json.ts";

/** Finds tokens that occur literally in a text. The leftmost match wins, then the longest. */
export class AddedTokens {
  readonly any: boolean;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #pattern: RegExp;

  constructor(tokens: readonly AddedToken[]) {
    const contents = tokens.map(({ content }) => content).filter((content) => content !== "");
    this.any = contents.length > 0;
    this.#ids = new Map(tokens.map(({ content, id }) => [content, id]));
    const alternatives = contents
      .toSorted((a, b) => b.length - a.length)
      .map((content) => content.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
    this.#pattern = new RegExp(alternatives.join("|"), "g");
  }

  /** Cuts the text at the tokens. Each token is returned as its id, the text between them as strings. */
  split(text: string): (string | number)[] {
    if (!this.any || text.search(this.#pattern) < 0) return [text];
    const out: (string | number)[] = [];
    let start = 0;
    for (const { 0: content, index } of text.matchAll(this.#pattern)) {
      out.push(text.slice(start, index), this.#ids.get(content)!);
      start = index + content.length;
    }
    out.push(text.slice(start));
    return out;
  }
}
