import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { InputError } from "./input-error.ts";
import { codeOf } from "./system-error.ts";

/** Reads a UTF-8 file in pieces. It is decompressed if it is gzip, whatever its name, and a BOM is dropped. */
export async function* readText(path: string): AsyncGenerator<string> {
  try {
    yield* decode(await openBytes(path));
  } catch (error) {
    throw readError(path, error);
  }
}

/** Decodes UTF-8 bytes from another source, such as stdin. Errors call the source `name`. */
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
  // The iterator of the last stream reports the errors of all of them.
  return pipeline(bytes, createGunzip({ chunkSize: 1 << 18 }), () => {});
}

const GZIP = 0x1f8b; // first two bytes of every gzip file (RFC 1952)

/** Converts a system error about reading a file into an InputError, if the user can correct it. */
export function readError(file: string, error: unknown): unknown {
  const known = PROBLEMS[codeOf(error)];
  return known ? new InputError({ file }, ...known) : error;
}

/** Problem and hint by the code of the system error. */
const PROBLEMS: Record<string, [problem: string, hint: string]> = {
  ENOENT: ["does not exist", "check the spelling and the current folder"],
  ENOTDIR: ["does not exist", "a part of this path is a file, not a folder"],
  EISDIR: ["is a folder", "give a file in it"],
  EACCES: ["cannot be read (permission denied)", "check the permissions of the file"],
  EPERM: ["cannot be read (permission denied)", "check the permissions of the file"],
  ESPIPE: ["is a pipe, but it has to be read more than once", "write it to a file first"],
  Z_DATA_ERROR: ["is damaged gzip data", "copy, download or compress it again"],
  Z_BUF_ERROR: ["ends in the middle of the gzip data", "copy or download it again"],
  ERR_ENCODING_INVALID_ENCODED_DATA: ["is not UTF-8 text", "convert it: iconv -t UTF-8"],
};
