import { isExact } from "./exact.ts";

/**
 * Finds the members of a JSON object in its bytes without building values, so that members can
 * be read or changed while all other bytes stay as they are. It accepts exactly the objects
 * that JSON.parse accepts (json.test.ts compares them), up to a limit of depth.
 */
export function scanObject(
  json: Uint8Array,
  from = 0,
  to = json.length,
  maxValues = Infinity,
): Members {
  const scan = new Scan(json, to, maxValues);
  const open = scan.blanks(from);
  if (open >= to || json[open] !== OPEN_BRACE) throw new JsonError("expected an object", open);
  const spans: number[] = [];
  const close = scan.object(open, 1, spans) - 1;
  const end = scan.blanks(close + 1);
  if (end < to) throw new JsonError("unexpected text after the object", end);
  return new Members(json, open, close, spans);
}

/** Scans the body of a request. JSON of millions of small values would take seconds to parse. */
export function scanRequest(json: Uint8Array): Members {
  const members = scanObject(json, 0, json.length, MAX_VALUES);
  if (members.size <= MAX_MEMBERS) return members;
  throw new JsonError(`more than ${MAX_MEMBERS} members`, members.at(MAX_MEMBERS).keyStart);
}

/** More than requests need, token lists for embeddings included. */
const MAX_VALUES = 500_000;

/**
 * Bodies of this many bytes or more are read and translated by other threads. A smaller one takes
 * the thread that serves requests a few milliseconds at most.
 */
export const LARGE_BODY = 256 * 1024;

/** More members than the outermost object of a request needs. */
const MAX_MEMBERS = 1000;

/** More than conversations with tools and schemas need, and far below any parser's stack limit. */
const MAX_DEPTH = 128;

export class JsonError extends Error {
  override readonly name = "JsonError";

  /** `offset` is the position of the byte at which the error was found. */
  constructor(problem: string, offset: number) {
    super(`the JSON is invalid at byte ${offset}: ${problem}`);
  }
}

/** Byte offsets of a member. */
export interface Member {
  /** Offset of the quote before the key. */
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The members of the outermost object, in their order. A name may occur twice. */
export class Members {
  readonly json: Buffer;
  /** Offset of the opening brace. */
  readonly open: number;
  /** Offset of the closing brace. */
  readonly close: number;
  /** Four offsets for each member: start and end of the key, start and end of the value. */
  readonly spans: readonly number[];

  constructor(json: Uint8Array, open: number, close: number, spans: readonly number[]) {
    this.json = Buffer.isBuffer(json)
      ? json
      : Buffer.from(json.buffer, json.byteOffset, json.length);
    this.open = open;
    this.close = close;
    this.spans = spans;
  }

  get size(): number {
    return this.spans.length / 4;
  }

  at(i: number): Member {
    const { spans } = this;
    const k = 4 * i;
    return { keyStart: spans[k]!, valueStart: spans[k + 2]!, valueEnd: spans[k + 3]! };
  }

  /** The member of this name. If there are several it is the last, as in JSON.parse. */
  find(name: string): Member | undefined {
    const i = this.#indexOf(name);
    return i < 0 ? undefined : this.at(i);
  }

  /** The parsed value of a member, or undefined if there is none. */
  value(name: string): unknown {
    const { json, spans } = this;
    const i = this.#indexOf(name);
    if (i < 0) return undefined;
    const start = spans[4 * i + 2]!;
    const end = spans[4 * i + 3]!;
    if (json[start] === 0x74 && end - start === 4) return true;
    if (json[start] === 0x66 && end - start === 5) return false;
    return JSON.parse(json.toString("utf8", start, end));
  }

  /** Index of the last member of this name, or -1. */
  #indexOf(name: string): number {
    for (let i = this.size - 1; i >= 0; i--) if (this.isNamed(i, name)) return i;
    return -1;
  }

  /** `name` has no special characters. A key with escapes ("mod\\u0065l") is longer and is parsed. */
  isNamed(i: number, name: string): boolean {
    const start = this.spans[4 * i]! + 1;
    const end = this.spans[4 * i + 1]! - 1;
    const { json } = this;
    const extra = end - start - name.length;
    if (extra === 0) {
      for (let k = 0; k < name.length; k++) {
        if (json[start + k] !== name.charCodeAt(k)) return false;
      }
      return true;
    }
    if (extra < 0) return false;
    for (let k = start; k < end; k++) {
      if (json[k] === BACKSLASH) {
        return JSON.parse(json.toString("utf8", start - 1, end + 1)) === name;
      }
    }
    return false;
  }
}

/**
 * Scanner. Each method takes the offset at which a value starts and returns the offset after its
 * end.
 */
class Scan {
  readonly #json: Uint8Array;
  readonly #to: number;
  readonly #maxValues: number;
  #values = 0;

  constructor(json: Uint8Array, to: number, maxValues: number) {
    this.#json = json;
    this.#to = to;
    this.#maxValues = maxValues;
  }

  blanks(from: number): number {
    let i = from;
    while (i < this.#to) {
      const byte = this.#json[i]!;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
      i++;
    }
    return i;
  }

  /** Adds the offsets of the members to `spans`, if given. */
  object(at: number, depth: number, spans?: number[]): number {
    checkDepth(at, depth);
    let i = this.blanks(at + 1);
    if (this.#byte(i) === CLOSE_BRACE) return i + 1;
    for (;;) {
      if (this.#byte(i) !== QUOTE) throw new JsonError("expected a key in double quotes", i);
      const keyEnd = this.#string(i);
      const colon = this.blanks(keyEnd);
      if (this.#byte(colon) !== COLON) throw new JsonError("expected a colon", colon);
      const valueStart = this.blanks(colon + 1);
      const valueEnd = this.#value(valueStart, depth);
      spans?.push(i, keyEnd, valueStart, valueEnd);
      i = this.blanks(valueEnd);
      const byte = this.#byte(i);
      if (byte === CLOSE_BRACE) return i + 1;
      if (byte !== COMMA) throw new JsonError("expected a comma or }", i);
      i = this.blanks(i + 1);
    }
  }

  #array(at: number, depth: number): number {
    checkDepth(at, depth);
    let i = this.blanks(at + 1);
    if (this.#byte(i) === CLOSE_BRACKET) return i + 1;
    for (;;) {
      i = this.blanks(this.#value(i, depth));
      const byte = this.#byte(i);
      if (byte === CLOSE_BRACKET) return i + 1;
      if (byte !== COMMA) throw new JsonError("expected a comma or ]", i);
      i = this.blanks(i + 1);
    }
  }

  #value(at: number, depth: number): number {
    if (++this.#values > this.#maxValues) {
      throw new JsonError(`more than ${this.#maxValues} values`, at);
    }
    switch (this.#byte(at)) {
      case QUOTE:
        return this.#string(at);
      case OPEN_BRACE:
        return this.object(at, depth + 1);
      case OPEN_BRACKET:
        return this.#array(at, depth + 1);
      case 0x74:
        return this.#word(at, "true");
      case 0x66:
        return this.#word(at, "false");
      case 0x6e:
        return this.#word(at, "null");
      default:
        return this.#number(at);
    }
  }

  #string(at: number): number {
    const json = this.#json;
    const to = this.#to;
    let i = at + 1;
    while (i < to) {
      while (i < to && PLAIN[json[i]!] === 1) i++;
      if (i === to) break;
      if (json[i] === QUOTE) return i + 1;
      if (json[i] !== BACKSLASH) throw new JsonError("unescaped control character", i);
      i = this.#escape(i);
    }
    throw new JsonError("unexpected end of a string", to);
  }

  #escape(at: number): number {
    const byte = this.#byte(at + 1);
    if (byte !== 0x75) {
      if (!ESCAPES.has(byte)) throw new JsonError("unknown escape", at);
      return at + 2;
    }
    for (let i = at + 2; i < at + 6; i++) {
      const digit = this.#byte(i) | 0x20;
      const isHex = isDigit(digit) || (digit >= 0x61 && digit <= 0x66);
      if (!isHex) throw new JsonError("expected four hexadecimal digits after \\u", at);
    }
    return at + 6;
  }

  #word(at: number, word: string): number {
    for (let i = 0; i < word.length; i++) {
      if (this.#byte(at + i) !== word.charCodeAt(i)) throw new JsonError("expected a value", at);
    }
    return at + word.length;
  }

  #number(at: number): number {
    let i = this.#json[at] === MINUS ? at + 1 : at;
    i = this.#byte(i) === ZERO ? i + 1 : this.#digits(i);
    if (i < this.#to && this.#json[i] === 0x2e) i = this.#digits(i + 1);
    if (i < this.#to && (this.#json[i]! | 0x20) === 0x65) {
      const sign = this.#byte(i + 1);
      i = this.#digits(sign === MINUS || sign === 0x2b ? i + 2 : i + 1);
    }
    return i;
  }

  #digits(at: number): number {
    let i = at;
    while (i < this.#to && isDigit(this.#json[i]!)) i++;
    if (i === at) throw new JsonError("expected a value", at);
    return i;
  }

  #byte(at: number): number {
    if (at >= this.#to) throw new JsonError("unexpected end", this.#to);
    return this.#json[at]!;
  }
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
/** 1 for each byte that needs no check inside a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);
const ESCAPES = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));

function checkDepth(at: number, depth: number): void {
  if (depth > MAX_DEPTH) throw new JsonError(`more than ${MAX_DEPTH} levels of nesting`, at);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** A JSON object whose members have not been checked. */
export type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExact(value);
}

/** The value in a JSON text, or undefined if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Edits {
  /** JSON text by name. All members of a name are replaced; if there is none, one is added last. */
  readonly set?: Readonly<Record<string, string>>;
  readonly drop?: readonly string[];
}

/**
 * Edits the bytes of a JSON object. All other bytes stay as they are: the order of keys, white
 * space, escapes, 1e2 and 1.0, integers above 2^53, duplicate keys.
 */
export function editObject(json: Uint8Array, edits: Edits): Buffer {
  return editMembers(scanObject(json), edits);
}

/** Edits an object that has been scanned. */
export function editMembers(members: Members, { set = NO_SET, drop }: Edits): Buffer {
  const names = Object.keys(set);
  const isFound: boolean[] = [];
  const cuts: Cut[] = [];
  const { spans, size } = members;
  let isAnyKept = false;
  let before = members.open + 1; // end of the member before
  for (let i = 0; i < size; i++) {
    const valueEnd = spans[4 * i + 3]!;
    if (drop && indexAmong(members, i, drop) >= 0) {
      // Drop one comma too: the one before or, if no earlier member is kept, the one after.
      const next = i + 1 < size ? spans[4 * i + 4]! : valueEnd;
      if (isAnyKept) cuts.push({ start: before, end: valueEnd, text: "" });
      else cuts.push({ start: spans[4 * i]!, end: next, text: "" });
    } else {
      const k = indexAmong(members, i, names);
      if (k >= 0) {
        isFound[k] = true;
        cuts.push({ start: spans[4 * i + 2]!, end: valueEnd, text: set[names[k]!]! });
      }
      isAnyKept = true;
    }
    before = valueEnd;
  }
  for (let k = 0; k < names.length; k++) {
    if (isFound[k]) continue;
    const key = `${isAnyKept ? "," : ""}${JSON.stringify(names[k])}:`;
    // A long value is written by itself, because joining it to the key would copy it.
    cuts.push({ start: before, end: before, text: key });
    cuts.push({ start: before, end: before, text: set[names[k]!]! });
    isAnyKept = true;
  }
  return applied(cuts, members.json);
}

const NO_SET: Readonly<Record<string, string>> = {};

/** The index of a member's name among these, or -1. */
function indexAmong(members: Members, i: number, names: readonly string[]): number {
  for (let k = 0; k < names.length; k++) if (members.isNamed(i, names[k]!)) return k;
  return -1;
}

/** Text that replaces a range of bytes. */
interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Makes replacements, which are in order and do not overlap. */
function applied(cuts: readonly Cut[], bytes: Buffer): Buffer {
  let size = bytes.length;
  for (const { start, end, text } of cuts) size += Buffer.byteLength(text) - (end - start);
  const out = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of cuts) {
    to += bytes.copy(out, to, from, start);
    to += out.write(text, to);
    from = end;
  }
  bytes.copy(out, to, from);
  return out;
}
