/** Makes the files that the other commands read from downloaded ones. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { categoryName } from "../../core/input/categories.ts";
import { InputError } from "../../core/input/input-error.ts";
import { readJson } from "../../core/input/json.ts";
import { readRows } from "../../core/input/rows.ts";
import { openRows } from "./load.ts";
import type { DataName } from "./sources.ts";

interface Unpacked {
  /** Path within the folder of the data set. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** Unpackers by data set. `folder` holds the downloaded files. */
export const UNPACKERS: Partial<
  Readonly<Record<DataName, (folder: string) => AsyncGenerator<Unpacked>>>
> = { routerbench: queriesOfRouterbench, mmlu: unpackMmlu, llmrouter: joinLlmrouter };

/**
 * The prompts of the paper's seven benchmarks, for `joust reproduce`, if somebody has converted
 * the pickle to a table. This program does not read pickles, because a pickle can run any code.
 */
async function* queriesOfRouterbench(folder: string): AsyncGenerator<Unpacked> {
  const table = TABLES.map((name) => join(folder, name)).find(existsSync);
  if (table === undefined) return;
  const lines: string[] = [];
  for await (const { id, text: query, category } of await openRows(table)) {
    const benchmark = categoryName(category ?? "");
    if (BENCHMARKS.has(benchmark)) lines.push(`${JSON.stringify({ id, query, benchmark })}\n`);
  }
  const path = join("..", "routerbench-queries", "queries_routerbench.jsonl");
  yield { path, content: Buffer.from(lines.join("")) };
}

const TABLES = ["jsonl", "jsonl.gz", "json", "parquet", "csv"].map(
  (extension) => `routerbench_0shot.${extension}`,
);
const BENCHMARKS = new Set([
  "mmlu",
  "mt-bench",
  "mbpp",
  "hellaswag",
  "winogrande",
  "gsm8k",
  "arc-challenge",
]);

/** The csv files of data.tar: test/, dev/ and val/, one file per subject. */
async function* unpackMmlu(folder: string): AsyncGenerator<Unpacked> {
  const file = join(folder, "data.tar");
  let count = 0;
  for (const { name, content } of tarEntries(file, await readFile(file))) {
    const path = /^(?:\.\/)?data\/((?:test|dev|val)\/[\w-]+\.csv)$/.exec(name)?.[1];
    if (path === undefined) continue;
    count++;
    yield { path, content };
  }
  if (count > 0) return;
  throw new InputError({ file }, "has no data/test/*.csv", "download it again");
}

const BLOCK = 512;

/**
 * Entries of a tar archive (POSIX ustar). A header block has the name at byte 0 and the size
 * in octal digits at byte 124; the content follows, padded to whole blocks.
 */
function* tarEntries(file: string, bytes: Buffer): Generator<{ name: string; content: Buffer }> {
  const text = (from: number, length: number) =>
    bytes.toString("latin1", from, from + length).replace(/\0.*$/s, "");
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8);
    const begin = at + BLOCK;
    if (!(size >= 0 && begin + size <= bytes.length)) {
      throw new InputError({ file }, `is damaged at byte ${at}`, "remove it and download it again");
    }
    const prefix = text(at + 257, 5) === "ustar" ? text(at + 345, 155) : "";
    const name = prefix === "" ? text(at, 100) : `${prefix}/${text(at, 100)}`;
    yield { name, content: bytes.subarray(begin, begin + size) };
    at = begin + BLOCK * Math.ceil(size / BLOCK);
  }
}

const HINT = "remove the file and download it again";
const SCORED = z.array(
  z.object({ question: z.string(), scores: z.record(z.string(), z.number().min(0).max(1)) }),
);
const TASK = z.object({ query: z.string(), task_name: z.string() });

/** One jsonl file in the form that `joust simulate` reads: the scores with the task of each query. */
async function* joinLlmrouter(folder: string): AsyncGenerator<Unpacked> {
  const tasks = new Map<string, string>();
  for (const split of SPLITS) {
    const file = join(folder, `default_query_${split}.jsonl`);
    for await (const { row } of readRows(file, TASK, HINT)) {
      if (!tasks.has(row.query)) tasks.set(row.query, row.task_name);
    }
  }
  const lines: string[] = [];
  for (const split of SPLITS) {
    const file = join(folder, `${split}.json`);
    for (const { question: query, scores } of await readJson(file, SCORED, HINT)) {
      const task = tasks.get(query);
      if (task === undefined) {
        throw new InputError({ file }, `has a query without a task: ${query.slice(0, 60)}`, HINT);
      }
      lines.push(`${JSON.stringify({ split, task, query, scores })}\n`);
    }
  }
  yield { path: "llmrouter_9models.jsonl", content: Buffer.from(lines.join("")) };
}

const SPLITS = ["train", "test"];
