import { mkdir, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Table, toCsv, toLatex, toMarkdown } from "../src/lab/report/table.ts";

export const DOCS = resolve(import.meta.dirname, "../docs");

/** Writes a table to docs/tables as CSV and LaTeX, and returns it as Markdown. */
export async function publish(name: string, table: Table): Promise<string> {
  await mkdir(resolve(DOCS, "tables"), { recursive: true });
  await writeFile(resolve(DOCS, "tables", `${name}.csv`), toCsv(table));
  await writeFile(resolve(DOCS, "tables", `${name}.tex`), toLatex(table));
  return `${toMarkdown(table)}\n`;
}
