import { invalidValue } from "../core/errors/joust-error.ts";

/**
 * Canonical encoding of plain values: equal values give equal bytes, so that a hash tells whether two
 * posteriors are equal bit for bit. Each value is a tag and its content: numbers have eight bytes,
 * lists and records start with their length, and the keys of a record are sorted.
 *
 * The library cborg writes canonical CBOR, whose bytes differ: with it, all hashes would change and the
 * snapshots of version 0.1 would be unreadable. The output of v8.serialize depends on the version
 * of Node and on the order of insertion.
 */
export function toBytes(value: unknown): Uint8Array {
  const out = new Writer();
  write(out, value, "");
  return out.bytes();
}

export function fromBytes(bytes: Uint8Array): unknown {
  const input = new Reader(bytes);
  const value = read(input);
  if (!input.atEnd)
    throw new RangeError("unexpected bytes after the value: not written by toBytes");
  return value;
}

function write(out: Writer, value: unknown, path: string): void {
  if (value === undefined) out.tag("u");
  else if (value === null) out.tag("0");
  else if (typeof value === "boolean") out.tag(value ? "t" : "f");
  else if (typeof value === "number") {
    out.tag("d");
    out.number(value);
  } else if (typeof value === "string") {
    out.tag("s");
    out.text(value);
  } else if (Array.isArray(value)) {
    writeList(out, "a", value, path);
  } else if (value instanceof Map) writeList(out, "m", [...value].flat(1), path);
  else if (value instanceof Set) writeList(out, "e", [...value], path);
  else if (ArrayBuffer.isView(value)) {
    const kind = ARRAYS.findIndex((type) => value instanceof type);
    if (kind < 0) throw notPlain(path, value);
    out.tag("v");
    out.size(kind);
    out.blob(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (typeof value === "object" && isRecord(value)) {
    const keys = Object.keys(value).sort();
    out.tag("o");
    out.size(keys.length);
    for (const key of keys) {
      out.text(key);
      write(out, value[key], `${path}.${key}`);
    }
  } else throw notPlain(path, value);
}

function writeList(out: Writer, tag: string, items: readonly unknown[], path: string): void {
  out.tag(tag);
  out.size(items.length);
  items.forEach((item, i) => {
    write(out, item, `${path}[${i}]`);
  });
}

function read(input: Reader): unknown {
  const tag = input.tag();
  switch (tag) {
    case "u":
      return undefined;
    case "0":
      return null;
    case "t":
    case "f":
      return tag === "t";
    case "d":
      return input.number();
    case "s":
      return input.text();
    case "a":
      return readList(input);
    case "e":
      return new Set(readList(input));
    case "m": {
      const items = readList(input);
      const pairs = items.flatMap((_, i) => (i % 2 ? [] : [[items[i], items[i + 1]] as const]));
      return new Map(pairs);
    }
    case "v": {
      const type = ARRAYS[input.size()];
      if (!type) break;
      return new type(input.blob().buffer);
    }
    case "o": {
      const size = input.size();
      return Object.fromEntries(
        Array.from({ length: size }, () => [input.text(), read(input)] as const),
      );
    }
  }
  throw new RangeError(`unknown tag "${tag}": not written by toBytes`);
}

function readList(input: Reader): unknown[] {
  const size = input.size();
  return Array.from({ length: size }, () => read(input));
}

/** The order is part of the format: add new types at the end. */
const ARRAYS = [
  Float64Array,
  Float32Array,
  Int32Array,
  Uint32Array,
  Int16Array,
  Uint16Array,
  Int8Array,
  Uint8Array,
] as const;

function isRecord(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function notPlain(path: string, value: unknown): RangeError {
  const kind = typeof value === "object" ? value?.constructor.name : typeof value;
  return invalidValue(
    `state${path} is a ${kind}`,
    "store only strings, numbers, booleans, typed arrays, lists, records, maps and sets in a snapshot",
  );
}

class Writer {
  #buffer = Buffer.allocUnsafe(1 << 12);
  #length = 0;

  tag(letter: string): void {
    this.#room(1);
    this.#length = this.#buffer.writeUInt8(letter.charCodeAt(0), this.#length);
  }

  size(value: number): void {
    this.#room(4);
    this.#length = this.#buffer.writeUInt32LE(value, this.#length);
  }

  number(value: number): void {
    this.#room(8);
    // JavaScript does not define the bits of NaN.
    if (Number.isNaN(value)) {
      this.#length = this.#buffer.writeBigUInt64LE(0x7ff8000000000000n, this.#length);
    } else this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  /** Writes a string as JSON, which escapes surrogates that UTF-8 cannot represent. */
  text(value: string): void {
    this.blob(Buffer.from(JSON.stringify(value), "utf8"));
  }

  blob(bytes: Uint8Array): void {
    this.size(bytes.length);
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#buffer.subarray(0, this.#length));
  }

  #room(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#length + more));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  tag(): string {
    return String.fromCharCode(this.#bytes.readUInt8(this.#at++));
  }

  size(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  number(): number {
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  text(): string {
    return JSON.parse(Buffer.from(this.blob()).toString("utf8")) as string;
  }

  /** Returns a copy, so that typed arrays on it are aligned. */
  blob(): Uint8Array<ArrayBuffer> {
    const size = this.size();
    if (this.#at + size > this.#bytes.length) throw new RangeError("bytes are truncated");
    this.#at += size;
    return new Uint8Array(this.#bytes.subarray(this.#at - size, this.#at));
  }
}
