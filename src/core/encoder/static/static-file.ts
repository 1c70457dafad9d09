/**
 * The file of a static encoder: a line of JSON that says what it is (`head -1`
 * shows it), filled up with blanks to a multiple of 8 bytes, then the parts that
 * the line names, one after another: scales (float32), rows (int8), and tokens
 * (UTF-8, one a line, the line number being the id). Numbers are little-endian.
 * It is read at once and used as it lies: no parsing of 30,000 entries.
 */
import { createHash } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { InputError } from "../../input/input-error.ts";
import { parseJson } from "../../input/json.ts";
import { checkShape } from "../../input/rows.ts";
import { readError } from "../../input/text.ts";
import type { StaticTable } from "./static-table.ts";

/** Within its folder. */
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
  /** Bytes of each part. */
  sizes: z.object({ scales: COUNT, rows: COUNT, tokens: COUNT }),
  /** Of all bytes after the header. */
  sha256: z.string(),
});

const AGAIN = "it is damaged or was not copied whole: copy it again, or make it with joust distill";

export interface StaticFile {
  readonly table: StaticTable;
  /** The same for the same vectors. */
  readonly sha256: string;
}

export async function readStaticFile(file: string): Promise<StaticFile> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw readError(file, error);
  });
  const fail = (problem: string, remedy = AGAIN) => new InputError({ file }, problem, remedy);
  const end = bytes.indexOf("\n");
  if (!bytes.subarray(0, 2).equals(Buffer.from('{"')) || end < 0) {
    throw fail("is no static encoder", `name a ${STATIC_FILE} that joust distill has written`);
  }
  const json = parseJson(file, bytes.toString("utf8", 0, end), AGAIN);
  const { source, dimension, tokenizer, sizes, sha256 } = checkShape({ file }, json, HEADER, AGAIN);
  const body = bytes.subarray(end + 1);
  if (body.length !== sizes.scales + sizes.rows + sizes.tokens) {
    throw fail(`has ${body.length} bytes after its header, which speaks of others`);
  }
  if (digest([body]) !== sha256) throw fail("was changed: its checksum is another");
  const tokens = body.toString("utf8", sizes.scales + sizes.rows).split("\n");
  if (sizes.scales !== 4 * tokens.length || sizes.rows !== dimension * tokens.length) {
    throw fail(`has ${tokens.length} tokens, and scales and rows for another number`);
  }
  const added = tokenizer.added.map(({ id }) => id);
  if (Math.max(tokenizer.unknown, ...added) >= tokens.length) {
    throw fail("has special tokens that are not among its tokens");
  }
  // A copy: floats must lie at multiples of 4, and a buffer may begin anywhere.
  const scales = new Float32Array(Uint8Array.from(body.subarray(0, sizes.scales)).buffer);
  const rows = new Int8Array(body.buffer, body.byteOffset + sizes.scales, sizes.rows);
  return {
    table: { source, dimension, tokenizer: { ...tokenizer, tokens }, scales, rows },
    sha256,
  };
}

/** The whole file or none of it. Returns its checksum. */
export async function writeStaticFile(file: string, table: StaticTable): Promise<string> {
  const { source, dimension, scales, rows } = table;
  const { tokens, unknown, continuingPrefix, longestWord, normalizer, added } = table.tokenizer;
  if (tokens.some((token) => token.includes("\n"))) {
    throw new RangeError("a token with a line break cannot be written, one token being a line");
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
  const blanks = " ".repeat(7 - (line.length % 8));
  const beside = `${file}.${process.pid}.new`;
  try {
    await writeFile(beside, Buffer.concat([line, Buffer.from(`${blanks}\n`), ...parts]));
    await rename(beside, file);
  } finally {
    await rm(beside, { force: true });
  }
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
