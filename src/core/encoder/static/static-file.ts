/**
 * The file format of a static encoder: a header, which is one line of JSON padded
 * with spaces to a multiple of 8 bytes (`head -1` shows it), then three parts:
 * scales (float32), rows (int8) and tokens (UTF-8, one per line; the line number
 * is the id). Numbers are little-endian. The parts are used without parsing.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { InputError } from "../../input/input-error.ts";
import { parseJson } from "../../input/json.ts";
import { replaceFile } from "../../input/replace-file.ts";
import { checkShape } from "../../input/rows.ts";
import { readError } from "../../input/text.ts";
import type { StaticTable } from "./static-table.ts";

/** Name of the file within its folder. */
export const STATIC_FILE = "static-encoder.bin";

const FORMAT = "joust static encoder";
const VERSION = 1;

const COUNT = z.int().min(0);
const HEADER = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  source: z.string(),
  dimension: z.int().min(1).max(65536),
  tokenizer: z.object({
    unknown: COUNT,
    continuingPrefix: z.string(),
    longestWord: z.int().min(1),
    normalizer: z.object({
      cleanText: z.boolean(),
      handleChineseChars: z.boolean(),
      stripAccents: z.boolean().nullable(),
      lowercase: z.boolean(),
    }),
    added: z.array(z.object({ content: z.string(), id: COUNT, normalized: z.boolean() })),
  }),
  /** Length of each part in bytes. */
  sizes: z.object({ scales: COUNT, rows: COUNT, tokens: COUNT }),
  /** SHA-256 of all bytes after the header. */
  sha256: z.string(),
});

const AGAIN = "the file is damaged or incomplete: copy it again, or make it with joust distill";

export interface StaticFile {
  readonly table: StaticTable;
  /** Equal checksums mean equal embeddings. */
  readonly sha256: string;
}

export async function readStaticFile(file: string): Promise<StaticFile> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw readError(file, error);
  });
  const fail = (problem: string, hint = AGAIN) => new InputError({ file }, problem, hint);
  const end = bytes.indexOf("\n");
  if (!bytes.subarray(0, 2).equals(Buffer.from('{"')) || end < 0) {
    throw fail("is not a static encoder", `give a ${STATIC_FILE} that joust distill has written`);
  }
  const json = parseJson(file, bytes.toString("utf8", 0, end), AGAIN);
  const { source, dimension, tokenizer, sizes, sha256 } = checkShape({ file }, json, HEADER, AGAIN);
  const body = bytes.subarray(end + 1);
  if (body.length !== sizes.scales + sizes.rows + sizes.tokens) {
    const expected = sizes.scales + sizes.rows + sizes.tokens;
    throw fail(`has ${body.length} bytes after its header, not ${expected}`);
  }
  if (digest([body]) !== sha256) throw fail("was changed: its checksum differs");
  const tokens = body.toString("utf8", sizes.scales + sizes.rows).split("\n");
  if (sizes.scales !== 4 * tokens.length || sizes.rows !== dimension * tokens.length) {
    throw fail(`has ${tokens.length} tokens, but scales and rows for a different number`);
  }
  const added = tokenizer.added.map(({ id }) => id);
  if (Math.max(tokenizer.unknown, ...added) >= tokens.length) {
    throw fail("has special tokens whose ids exceed the number of tokens");
  }
  // Copied, because a Float32Array must start at a multiple of 4 bytes.
  const scales = new Float32Array(Uint8Array.from(body.subarray(0, sizes.scales)).buffer);
  const rows = new Int8Array(body.buffer, body.byteOffset + sizes.scales, sizes.rows);
  return {
    table: { source, dimension, tokenizer: { ...tokenizer, tokens }, scales, rows },
    sha256,
  };
}

/** Writes the file in one step and returns its checksum. */
export async function writeStaticFile(file: string, table: StaticTable): Promise<string> {
  const { source, dimension, scales, rows } = table;
  const { tokens, unknown, continuingPrefix, longestWord, normalizer, added } = table.tokenizer;
  if (tokens.some((token) => token.includes("\n"))) {
    throw new RangeError("tokens must not contain line breaks");
  }
  const parts = [bytesOf(scales), bytesOf(rows), Buffer.from(tokens.join("\n"))] as const;
  const sha256 = digest(parts);
  const header: z.infer<typeof HEADER> = {
    format: FORMAT,
    version: VERSION,
    source,
    dimension,
    tokenizer: { unknown, continuingPrefix, longestWord, normalizer, added: [...added] },
    sizes: { scales: parts[0].length, rows: parts[1].length, tokens: parts[2].length },
    sha256,
  };
  const line = Buffer.from(JSON.stringify(header));
  const padding = " ".repeat(7 - (line.length % 8));
  await replaceFile(file, Buffer.concat([line, Buffer.from(`${padding}\n`), ...parts]));
  return sha256;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Int8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function digest(parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}
