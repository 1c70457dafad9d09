import { readText } from "./text.ts";

export interface Line {
  /** Line number, counted from 1, including blank lines. */
  readonly number: number;
  readonly text: string;
}

/** Reads the lines of a text file, plain or gzip, that are not blank. A line ends with LF or CRLF. */
export function readLines(path: string): AsyncGenerator<Line> {
  return linesOf(readText(path));
}

/** Splits text that arrives in pieces into lines. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<Line> {
  let number = 0;
  let rest = "";
  for await (const piece of pieces) {
    // V8 appends a string without copying it, so a long line is copied only once, when it is
    // complete.
    rest += piece;
    if (!piece.includes("\n")) continue;
    const lines = rest.split("\n");
    rest = lines.pop()!;
    for (const text of lines) {
      number++;
      if (text.trim() !== "") yield { number, text: withoutReturn(text) };
    }
  }
  if (rest.trim() !== "") yield { number: number + 1, text: withoutReturn(rest) };
}

function withoutReturn(text: string): string {
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}
