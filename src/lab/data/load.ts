import { stat } from "node:fs/promises";
import { InputError } from "../../core/input/input-error.ts";
import { readLines } from "../../core/input/lines.ts";
import { parseRecord } from "../../core/input/rows.ts";
import { readScores } from "../../core/input/scores.ts";
import { readError } from "../../core/input/text.ts";
import { assemble, type Selection } from "./assemble.ts";
import type { Dataset } from "./dataset.ts";
import { FORMATS } from "./formats.ts";
import { mmluFiles, mmluRows } from "./mmlu.ts";
import type { Row } from "./row.ts";
import { tableLines } from "./tables.ts";

export interface LoadOptions extends Selection {
  /** A csv file with the columns model,category,perf,cost. */
  readonly scores?: string | undefined;
  /** Accept queries without scores; `models` is then empty. */
  readonly unscored?: boolean | undefined;
}

/** Loads the data set of a file, of a folder of MMLU, or of several files that are read as one. */
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

/** Makes a data set from rows. `path` names their source in error messages. */
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
      "holds no scores of models and no comparisons",
      "add --scores CSV with lines model,category,perf,cost",
    );
  }
  return assemble(rows, table, options);
}

/** Reads a file row by row, without holding all of it in memory. */
export async function openRows(path: string): Promise<AsyncIterable<Row>> {
  const entry = await stat(path).catch((error: unknown) => {
    throw readError(path, error);
  });
  if (entry.isDirectory()) return concatenate((await mmluFiles(path)).map(mmluRows));
  const lines = await tableLines(path);
  if (!lines && /\.csv(\.gz)?$/.test(path)) return mmluRows(path);
  for await (const line of lines?.() ?? readLines(path)) {
    const record = parseRecord(path, line);
    const format = FORMATS.find(({ matches }) => matches(record));
    if (format) return format.rows(path, lines?.());
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
