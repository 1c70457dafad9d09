import type { Members } from "../../wire/json.ts";

/**
 * Estimated number of tokens. English in JSON has about 4.5 bytes per token, code and other
 * scripts have fewer.
 */
export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/**
 * Estimated tokens of the text in members of an answer, or of an event of one, in any dialect. No value is built: one
 * pass over the bytes takes about as long as the scan that has found the members.
 */
export function tokensIn(members: Members, names: readonly string[]): number {
  let bytes = 0;
  for (const name of names) {
    const member = members.find(name);
    if (member) bytes += textBytes(members.json, member.valueStart, member.valueEnd);
  }
  return tokensOfBytes(bytes);
}

/**
 * Estimated tokens of the text that one event of a stream adds in one of its members. A short member, as nearly all
 * are, counts as one token and is not read.
 */
export function tokensAdded(event: Members, name: string): number {
  const member = event.find(name);
  if (!member) return 0;
  if (member.valueEnd - member.valueStart <= SHORT_BYTES) return 1;
  return Math.max(1, tokensIn(event, [name]));
}

/**
 * UTF-8 bytes of all texts in a JSON value: of the value itself if it is a string, and of the strings in members that
 * hold text. The JSON must be valid.
 */
export function textBytes(json: Buffer, start: number, end: number): number {
  if (json[start] === QUOTE) return textAt(json, start).bytes;
  let sum = 0;
  for (let i = start; i < end; i++) {
    if (json[i] !== QUOTE) continue;
    const nameEnd = stringEnd(json, i);
    const colon = afterBlanks(json, nameEnd);
    if (json[colon] !== COLON) {
      i = nameEnd - 1; // a string in a list
      continue;
    }
    const name = json.toString("latin1", i + 1, nameEnd - 1);
    const value = afterBlanks(json, colon + 1);
    i = value - 1; // members of the value are visited next, unless it is skipped
    if (name === ARGUMENTS) {
      const valueEnd = endOf(json, value);
      sum += valueEnd - value;
      i = valueEnd - 1;
    } else if (json[value] === QUOTE) {
      const { end: valueEnd, bytes } = textAt(json, value);
      if (TEXTS.has(name)) sum += bytes;
      i = valueEnd - 1;
    }
  }
  return sum;
}

/** Members that hold text which a model has written. */
const TEXTS: ReadonlySet<string> = new Set([
  ...["content", "text", "refusal", "arguments", "thinking", "reasoning", "reasoning_content"],
  "partial_json",
]);
/** Arguments of a tool in Messages, a JSON value. All of it counts. */
const ARGUMENTS = "input";

/** Offset after the string that begins at `start`. */
function stringEnd(json: Buffer, start: number): number {
  let i = start + 1;
  while (json[i] !== QUOTE) i += json[i] === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** Offset after the value that begins at `start`. */
function endOf(json: Buffer, start: number): number {
  let depth = 0;
  let i = start;
  do {
    const byte = json[i]!;
    if (byte === QUOTE) i = stringEnd(json, i);
    else {
      // The brackets of lists differ from braces by this bit.
      if ((byte | 0x20) === 0x7b) depth++;
      else if ((byte | 0x20) === 0x7d) depth--;
      i++;
    }
  } while (depth > 0);
  return i;
}

function afterBlanks(json: Buffer, from: number): number {
  let i = from;
  while (json[i]! <= 0x20) i++;
  return i;
}

/** The string that begins at `start`: the offset after it, and its bytes in UTF-8 without escapes. */
function textAt(json: Buffer, start: number): { readonly end: number; readonly bytes: number } {
  let bytes = 0;
  let i = start + 1;
  while (json[i] !== QUOTE) {
    if (json[i] !== BACKSLASH) {
      bytes++;
      i++;
    } else if (json[i + 1] === 0x75) {
      bytes += escapedBytes(json[i + 2]!, json[i + 3]!, json[i + 4]!);
      i += 6;
    } else {
      bytes++;
      i += 2;
    }
  }
  return { end: i + 1, bytes };
}

/** UTF-8 bytes of an escape such as \u00e9, by its first three hexadecimal digits. */
function escapedBytes(first: number, second: number, third: number): 1 | 2 | 3 {
  if (first === ZERO && second === ZERO) return third < EIGHT ? 1 : 2;
  if (first === ZERO && second < EIGHT) return 2;
  // A character of four bytes is a pair of surrogates, d800 to dfff.
  return (first | 0x20) === 0x64 && second >= EIGHT ? 2 : 3;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const EIGHT = 0x38;

/** JSON of a delta up to this many bytes holds a few tokens: more than half of it are names of members. */
const SHORT_BYTES = 96;
