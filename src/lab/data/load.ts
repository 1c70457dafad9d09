import { stat } from "node:fs/promises";
import { InputError } from "../../core/input/input-error.ts";
import { readLines } from "../../core/input/lines.ts";
import { parseRecord } from "../../core/input/rows.ts";
import { readError } from "../../core/input/text.ts";
import { arena } from "./arena.ts";
import { assemble, type Selection } from "./assemble.ts";
import { comparisons } from "./comparisons.ts";
import type { Dataset } from "./dataset.ts";
import { llmrouter } from "./llmrouter.ts";
import { mixinstruct } from "./mixinstruct.ts";
import { mmluFiles, mmluRows } from "./mmlu.ts";
import { outcomes } from "./outcomes.ts";
import { pairwise } from "./pairwise.ts";
import { queries } from "./queries.ts";
import type { Format, Row } from "./row.ts";
import { readScores } from "./scores.ts";
import { votes } from "./votes.ts";

export interface LoadOptions extends Selection {
  /** A csv model,category,perf,cost. */
  readonly scores?: string | undefined;
  /** Accept queries of which nothing is scored; `models` is then empty. */
  readonly unscored?: boolean | undefined;
}

/**
 * The data set in a file (or a folder of MMLU, or several files read as one),
 * its format found by the shape of the first record.
 */
export async function loadDataset(
  data: string | readonly string[],
  options: LoadOptions = {},
): Promise<Dataset> {
  const paths = [data].flat();
  const path = paths[0] ?? "";
  const rows: Row[] = [];
  for (const one of paths) for await (const row of await openRows(one)) rows.push(row);
  return datasetOf(rows, path, options);
}

/** The same of rows that are read already; `path` is what messages call them. */
export async function datasetOf(
  rows: readonly Row[],
  path: string,
  options: LoadOptions = {},
): Promise<Dataset> {
  const [first] = rows;
  if (!first) throw new InputError({ file: path }, "holds no queries", "name a file with rows");
  const table = options.scores === undefined ? undefined : await readScores(options.scores);
  if (!table && !first.scores && !first.comparisons && !options.unscored) {
    throw new InputError(
      { file: path },
      "says nothing about how good models are",
      "add --scores CSV with lines model,category,perf,cost",
    );
  }
  return assemble(rows, table, options);
}

/** Most telling first: a record that fits two is of the first. */
const FORMATS: readonly Format[] = [
  mixinstruct,
  pairwise,
  comparisons,
  arena,
  votes,
  llmrouter,
  outcomes,
  queries,
];

/** Row by row, so that a long file need not be held. */
export async function openRows(path: string): Promise<AsyncIterable<Row>> {
  const entry = await stat(path).catch((error: unknown) => {
    throw readError(path, error);
  });
  if (entry.isDirectory()) return concatenate((await mmluFiles(path)).map(mmluRows));
  if (/\.csv(\.gz)?$/.test(path)) return mmluRows(path);
  for await (const line of readLines(path)) {
    const record = parseRecord(path, line);
    const format = FORMATS.find(({ matches }) => matches(record));
    if (format) return format.rows(path);
    throw new InputError(
      { file: path, line: line.number, field: "query" },
      `is missing; the fields are ${Object.keys(record).join(", ") || "none"}`,
      'a row is {"id", "query", "category"} with "scores" or "comparisons" if there are any',
    );
  }
  throw new InputError({ file: path }, "is empty", "name a file with rows");
}

async function* concatenate(parts: readonly AsyncIterable<Row>[]): AsyncGenerator<Row> {
  for (const part of parts) yield* part;
}
