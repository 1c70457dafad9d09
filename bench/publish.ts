import { mkdir, readFile, writeFile } from "node:fs/promises";
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

/** Writes a whole page of docs. */
export async function writeDoc(page: string, text: string): Promise<void> {
  await writeFile(resolve(DOCS, page), text);
}

/** Replaces the generated part of a page in docs, which stands between two marks. */
export async function fillPage(page: string, text: string): Promise<void> {
  const file = resolve(DOCS, page);
  const [before, rest = ""] = (await readFile(file, "utf8")).split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error(`${file} has no marks "${BEGIN}" and "${END}"`);
  await writeFile(file, `${before}${BEGIN}\n\n${text.trim()}\n\n${END}${after}`);
}

const BEGIN = "<!-- A benchmark writes this part. -->";
const END = "<!-- End of this part. -->";
