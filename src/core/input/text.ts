import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { InputError } from "./input-error.ts";
import { codeOf } from "./system-error.ts";

/** The text of a UTF-8 file in pieces, unpacked if it is gzip, whatever its name; a BOM is dropped. */
export async function* readText(path: string): AsyncGenerator<string> {
  try {
    yield* decode(await openBytes(path));
  } catch (error) {
    throw readError(path, error);
  }
}

/** The same of bytes that come in by themselves, as those of stdin; `name` is for messages. */
export async function* textOf(name: string, bytes: AsyncIterable<Uint8Array>) {
  try {
    yield* decode(bytes);
  } catch (error) {
    throw readError(name, error);
  }
}

async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const piece of bytes) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

async function openBytes(path: string): Promise<AsyncIterable<Uint8Array>> {
  const handle = await open(path);
  const head = await handle.read(Buffer.alloc(2), 0, 2, 0).catch(async (error: unknown) => {
    await handle.close();
    throw error;
  });
  const bytes = handle.createReadStream({ start: 0, highWaterMark: 1 << 18 });
  if (head.buffer.readUInt16BE() !== GZIP) return bytes;
  // The iterator of the last stream reports what fails in any of them.
  return pipeline(bytes, createGunzip({ chunkSize: 1 << 18 }), () => {});
}

const GZIP = 0x1f8b; // how every gzip file begins (RFC 1952)

/** What the system says about a file, as an InputError where the user can mend it. */
export function readError(file: string, error: unknown): unknown {
  const known = PROBLEMS[codeOf(error)];
  return known ? new InputError({ file }, ...known) : error;
}

const PROBLEMS: Record<string, [problem: string, hint: string]> = {
  ENOENT: ["does not exist", "check the spelling and the folder you are in"],
  ENOTDIR: ["does not exist", "a part of this path is a file, not a folder"],
  EISDIR: ["is a folder", "name a file in it"],
  EACCES: ["may not be read", "check the file's permissions"],
  EPERM: ["may not be read", "check the file's permissions"],
  ESPIPE: ["is a pipe, and it is read more than once", "write it to a file first"],
  Z_DATA_ERROR: ["is damaged gzip data", "copy, download or pack it again"],
  Z_BUF_ERROR: ["ends in the middle of its gzip data", "copy or download it again"],
  ERR_ENCODING_INVALID_ENCODED_DATA: ["is not UTF-8 text", "convert it: iconv -t UTF-8"],
};
