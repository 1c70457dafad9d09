import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { type CsvRow, columnsOf, readCsv } from "../../core/input/csv.ts";
import { InputError } from "../../core/input/input-error.ts";
import { COLUMNS } from "../../core/input/scores.ts";
import { readError } from "../../core/input/text.ts";
import type { Row } from "./row.ts";

/**
 * Reads MMLU in both csv shapes: with a header (subject,idx,question,A..D,answer), or as
 * published, one file without a header per subject (question,A..D,answer), whose name holds
 * subject and split. The category is the subject. The text is the question with each option
 * on its own line, as in the RouterBench queries.
 */
export async function* mmluRows(file: string): AsyncGenerator<Row> {
  const { subject, split } = readName(file);
  let column: Record<string, number> = CLASSIC;
  let index = 0;
  for await (const row of readCsv(file)) {
    if (index === 0 && column === CLASSIC) {
      if (isHeader(row)) {
        column = headerColumns(file, row);
        continue;
      }
      checkWidth(file, row);
    }
    const cell = (field: string): string => {
      const text = row.cells[column[field]!]?.trim();
      if (text) return text;
      throw new InputError({ file, line: row.line, field }, "is empty", HINT);
    };
    const category = "subject" in column ? cell("subject") : subject;
    const number = "idx" in column ? cell("idx") : String(index);
    yield {
      file,
      line: row.line,
      id: [category, split, number].filter(Boolean).join("."),
      text: [cell("question"), ...OPTIONS.map((name) => `${name}) ${cell(name)}`)].join("\n"),
      category,
      categoryField: "subject",
    };
    index++;
  }
}

/**
 * The files of a folder that are read as one: *_test.csv and *_dev.csv, directly or in test/
 * and dev/. The paper's 645 queries are test and dev; val is left out.
 */
export async function mmluFiles(folder: string): Promise<string[]> {
  const direct = await splitsIn(folder);
  const files = direct.length > 0 ? direct : (await Promise.all(nested(folder))).flat();
  if (files.length > 0) return files;
  throw new InputError(
    { file: folder },
    "is a folder without *_test.csv or *_dev.csv files of MMLU",
    "name a file in it",
  );
}

function nested(folder: string): Promise<string[]>[] {
  return ["dev", "test"].map((split) => splitsIn(join(folder, split)).catch(() => []));
}

async function splitsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw readError(folder, error);
  });
  const wanted = names.filter((name) => /_(test|dev)\.csv(\.gz)?$/.test(name));
  return wanted.sort().map((name) => join(folder, name));
}

const OPTIONS = ["A", "B", "C", "D"];
const CLASSIC: Record<string, number> = { question: 0, A: 1, B: 2, C: 3, D: 4, answer: 5 };

/** abstract_algebra_test.csv.gz is the split `test` of abstract_algebra. */
function readName(file: string): { subject: string; split: string } {
  const name = basename(file).replace(/\.csv(\.gz)?$/, "");
  const [, subject = name, split = ""] = /^(.*)_(test|dev|val)$/.exec(name) ?? [];
  return { subject, split };
}

function isHeader({ cells }: CsvRow): boolean {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  return names.includes("question") || COLUMNS.every((name) => names.includes(name));
}

/** Refuses a csv of anything else, which would be read as questions without options. */
function checkWidth(file: string, { line, cells }: CsvRow): void {
  const width = Object.keys(CLASSIC).length;
  if (cells.length === width) return;
  const table = cells.some((cell) => /\bperf\b/i.test(cell));
  throw new InputError(
    { file, line },
    `has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, but a csv of queries must be MMLU with ${width} cells: ${Object.keys(CLASSIC).join(",")}`,
    table
      ? "name the queries first and give this file as --scores"
      : 'write other data as jsonl: {"id": "q1", "query": "..", "category": "mmlu"}',
  );
}

function headerColumns(file: string, header: CsvRow): Record<string, number> {
  const names = header.cells.map((cell) => cell.trim().toLowerCase());
  if (!names.includes("question")) {
    throw new InputError(
      { file, line: header.line },
      "is a table of scores, not of queries",
      "name the queries first and give this file as --scores",
    );
  }
  const wanted = ["question", "a", "b", "c", "d"] as const;
  const { question, a: A, b: B, c: C, d: D } = columnsOf(file, header, wanted);
  const column: Record<string, number> = { question, A, B, C, D };
  for (const name of ["subject", "idx"]) {
    if (names.includes(name)) column[name] = names.indexOf(name);
  }
  return column;
}

const HINT = "a line of MMLU is question,A,B,C,D,answer, all filled";
