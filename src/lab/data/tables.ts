/** Reads tables that are not jsonl: Parquet, a JSON array, and RouterBench's csv. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { messageOf } from "../../core/errors/joust-error.ts";
import { readCsv } from "../../core/input/csv.ts";
import { InputError } from "../../core/input/input-error.ts";
import { parseJson } from "../../core/input/json.ts";
import type { Line } from "../../core/input/lines.ts";
import { readError, readText } from "../../core/input/text.ts";

/**
 * Returns a function that reads the rows of a table as lines of jsonl, or undefined if the file
 * is not such a table. Lines are numbered like the rows, in a csv like the lines of the file.
 */
export async function tableLines(path: string): Promise<(() => AsyncIterable<Line>) | undefined> {
  if (/\.parquet$/.test(path)) return () => parquetLines(path);
  if (/\.csv(\.gz)?$/.test(path)) {
    for await (const { cells } of readCsv(path)) {
      return cells.includes("sample_id") ? () => csvLines(path) : undefined;
    }
    return undefined;
  }
  for await (const piece of readText(path)) {
    if (piece.trim() === "") continue;
    return piece.trimStart().startsWith("[") ? () => arrayLines(path) : undefined;
  }
  return undefined;
}

async function* csvLines(path: string): AsyncGenerator<Line> {
  let header: readonly string[] | undefined;
  for await (const { line: number, cells } of readCsv(path)) {
    if (!header) header = cells;
    else {
      const entries = header.map((name, i) => [name, cells[i] ?? null] as const);
      yield { number, text: JSON.stringify(Object.fromEntries(entries)) };
    }
  }
}

async function* arrayLines(path: string): AsyncGenerator<Line> {
  let text = "";
  for await (const piece of readText(path)) text += piece;
  const rows = parseJson(path, text, "write a JSON array of objects, or one object per line");
  for (const [i, row] of (rows as readonly unknown[]).entries()) {
    yield { number: i + 1, text: JSON.stringify(row) };
  }
}

/** Rows that are decoded at a time. */
const CHUNK = 2000;

async function* parquetLines(path: string): AsyncGenerator<Line> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } =
    await import("hyparquet");
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const names = parquetSchema(metadata).children.map(({ element }) => element.name);
    // Answers are most of RouterBench's bytes, and nothing reads them.
    const columns = names.filter((name) => !name.endsWith("|model_response"));
    const rows = Number(metadata.num_rows);
    for (let rowStart = 0; rowStart < rows; rowStart += CHUNK) {
      const rowEnd = Math.min(rows, rowStart + CHUNK);
      const options = { file, metadata, columns, rowStart, rowEnd, compressors: COMPRESSORS };
      const chunk = await parquetReadObjects(options);
      for (const [i, row] of chunk.entries()) {
        yield { number: rowStart + i + 1, text: JSON.stringify(row, plain) };
      }
    }
  } catch (error) {
    const known = readError(path, error);
    if (known instanceof InputError) throw known;
    throw new InputError(
      { file: path },
      `cannot be read as Parquet (${messageOf(error)})`,
      "write it again with pandas: to_parquet, or to_json(orient='records', lines=True)",
    );
  }
}

/** The codecs that hyparquet does not have itself. */
const COMPRESSORS = {
  GZIP: (bytes: Uint8Array) => gunzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliDecompressSync(bytes),
  ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes),
};

/** JSON has no 64-bit integers. */
function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
