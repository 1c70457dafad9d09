import { readText } from "./text.ts";

export interface Line {
  /** Counts from 1, blank lines included. */
  readonly number: number;
  readonly text: string;
}

/** The lines of a text file, plain or gzip, without those that are blank. LF and CRLF both end one. */
export function readLines(path: string): AsyncGenerator<Line> {
  return linesOf(readText(path));
}

/** The same of text that comes in pieces. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<Line> {
  let number = 0;
  let rest = "";
  for await (const piece of pieces) {
    // Appending only links strings; a long line is put together once, when it ends.
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
