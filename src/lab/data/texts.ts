import { stat } from "node:fs/promises";
import { z } from "zod";
import { InputError } from "../../core/input/input-error.ts";
import { type Line, linesOf, readLines } from "../../core/input/lines.ts";
import { checkShape, parseRecord } from "../../core/input/rows.ts";
import { readError, textOf } from "../../core/input/text.ts";
import { ID, TEXT } from "./format.ts";
import { openRows } from "./load.ts";
import { idOf } from "./row.ts";

export interface Text {
  readonly id: string;
  readonly text: string;
}

/**
 * Reads the queries of a file one by one: any data set that `loadDataset` knows, or plain
 * text with one query per line. A folder, a csv, json or Parquet file is recognised by its
 * name, jsonl by the { at its start.
 */
export async function* readTexts(path: string): AsyncGenerator<Text> {
  const entry = await stat(path).catch((error: unknown) => {
    throw readError(path, error);
  });
  if (entry.isDirectory() || TABLE.test(path) || (await beginsWithBrace(path))) {
    for await (const { id, text } of await openRows(path)) yield { id, text };
  } else {
    for await (const line of readLines(path)) yield plain(line);
  }
}

/** Reads queries from a stream, such as standard input: jsonl {"id","query"}, or plain text. */
export async function* textsOf(name: string, bytes: AsyncIterable<Uint8Array>) {
  let json: boolean | undefined;
  for await (const line of linesOf(textOf(name, bytes))) {
    json ??= isJson(line);
    yield json ? record(name, line) : plain(line);
  }
  if (json === undefined) throw new InputError({ file: name }, "is empty", HINT);
}

const TABLE = /\.(csv|json)(\.gz)?$|\.parquet$/;

async function beginsWithBrace(path: string): Promise<boolean> {
  for await (const line of readLines(path)) return isJson(line);
  throw new InputError({ file: path }, "is empty", HINT);
}

function isJson({ text }: Line): boolean {
  return text.trimStart().startsWith("{");
}

function plain({ number, text }: Line): Text {
  return { id: idOf(undefined, number), text };
}

function record(file: string, line: Line): Text {
  const place = { file, line: line.number };
  const { id, query } = checkShape(place, parseRecord(file, line), SHAPE, HINT);
  return { id: idOf(id, line.number), text: query };
}

const SHAPE = z.object({ id: ID, query: TEXT });
const HINT = 'give lines {"id": "q1", "query": "Why is the sky blue?"}, or one query per line';
