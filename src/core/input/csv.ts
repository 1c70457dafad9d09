import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { InputError } from "./input-error.ts";
import { readText } from "./text.ts";

export interface CsvRow {
  /** The line on which the row begins, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Reads the rows of a csv file, plain or gzip. A header row is returned like any other. */
export async function* readCsv(file: string): AsyncGenerator<CsvRow> {
  const text = Readable.from(readText(file));
  const parser = parse({ info: true, relax_column_count: true, skip_empty_lines: true });
  text.on("error", (error) => parser.destroy(error));
  let returns = 0; // csv-parse counts a CRLF inside quotes as two lines
  try {
    for await (const { record, info } of text.pipe(parser)) {
      const cells: string[] = record;
      returns += count(cells, "\r\n");
      yield { line: info.lines - returns - count(cells, "\n"), cells };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new InputError(
      { file, line: Number(error.lines) - returns },
      `is not csv (${error.message})`,
      'put cells that contain commas, quotes or line breaks into quotes, and write " inside them as ""',
    );
  } finally {
    text.destroy();
  }
}

function count(cells: readonly string[], mark: string): number {
  return cells.reduce((sum, cell) => sum + cell.split(mark).length - 1, 0);
}

/** Returns the index of each named column in the header row, and throws if one is missing. */
export function columnsOf<Name extends string>(
  file: string,
  header: CsvRow,
  names: readonly Name[],
): Record<Name, number> {
  const found = header.cells.map((cell) => cell.trim().toLowerCase());
  const entries = names.map((name) => {
    const column = found.indexOf(name);
    if (column >= 0) return [name, column] as const;
    throw new InputError(
      { file, line: header.line, field: name },
      `is not a column of the header, ${header.cells.join(",").slice(0, 100)}`,
      header.cells.length === 1 && /[;\t]/.test(header.cells[0]!)
        ? "separate cells with commas, and write decimals with a point"
        : `start the file with the line ${names.join(",")}`,
    );
  });
  return Object.fromEntries(entries) as Record<Name, number>;
}
