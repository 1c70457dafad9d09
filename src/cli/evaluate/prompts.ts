/** Reads the prompts of `joust evaluate`: a file, or prompts that a gateway has stored. */
import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { categoryName } from "../../core/input/categories.ts";
import { type CsvRow, columnsOf, readCsv } from "../../core/input/csv.ts";
import { show } from "../../core/input/describe-issue.ts";
import { checkedAt, InputError } from "../../core/input/input-error.ts";
import { readLines } from "../../core/input/lines.ts";
import { rowsOf } from "../../core/input/rows.ts";
import type { EvaluationPrompt } from "../../gateway/evaluation/prompt.ts";
import { scorerOf } from "../../gateway/evaluation/scorer.ts";
import { idOf } from "../../lab/data/row.ts";
import { decisionsInPages } from "../../learner/pages.ts";
import { unseal } from "../../store/seal.ts";
import { fileOf, storeKey, withRouter } from "../shared/store-flags.ts";

const TEXT = z.string().min(1);
const ANSWER = z.union([TEXT, z.number().transform(String)]);
const ROW = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  query: TEXT,
  category: TEXT.nullish(),
  answer: z
    .union([ANSWER, z.array(ANSWER)], {
      error: ({ input }) => `is ${show(input)}, not a text, a number or a list of these`,
    })
    .nullish(),
  regex: TEXT.nullish(),
  schema: z.record(z.string(), z.unknown()).nullish(),
});
const HINT =
  'a row is {"query": "What is 6 * 7?", "answer": "42"}; optional are id, category, answer (a text, a number or a list), regex and schema; csv has the columns query and optionally id, category, answer, regex; any other file has one prompt per line';

/**
 * Reads jsonl, csv with a header, or plain text with one prompt per line. Prompts with the same text are read once,
 * and must not contradict each other.
 */
export async function readPrompts(file: string): Promise<EvaluationPrompt[]> {
  const all = new Map<string, PromptLine>();
  const lines = new Map<string, number>();
  for await (const { line, prompt } of promptsOf(file)) {
    const same = all.get(prompt.text);
    if (same) {
      checkSame(file, same, { line, prompt });
      continue;
    }
    all.set(prompt.text, { line, prompt });
    const earlier = lines.get(prompt.id);
    lines.set(prompt.id, line);
    if (earlier === undefined) continue;
    throw new InputError(
      { file, line, field: "id" },
      `"${prompt.id}" is already on line ${earlier}`,
      "give every prompt an id of its own, or none at all",
    );
  }
  if (all.size === 0) throw new InputError({ file }, "has no prompts", HINT);
  return Array.from(all.values(), ({ prompt }) => prompt);
}

/** Throws if a prompt has other values than an earlier one with the same text. Missing values are no difference. */
function checkSame(file: string, earlier: PromptLine, { line, prompt }: PromptLine): void {
  for (const field of ["category", "answers", "regex", "schema"] as const) {
    const value = prompt[field];
    if (value === undefined || isDeepStrictEqual(value, earlier.prompt[field])) continue;
    throw new InputError(
      { file, line, field: field === "answers" ? "answer" : field },
      `differs from that of line ${earlier.line}, which has the same prompt`,
      `keep one of the two lines${field === "answers" ? '; several right answers are a list: "answer": ["42", "forty-two"]' : ""}`,
    );
  }
}

interface PromptLine {
  readonly line: number;
  readonly prompt: EvaluationPrompt;
}

async function* promptsOf(file: string): AsyncGenerator<PromptLine> {
  if (/\.csv(\.gz)?$/.test(file)) yield* csvPrompts(file);
  else if (/\.(jsonl|ndjson|json)(\.gz)?$/.test(file) || (await isJson(file)))
    yield* jsonPrompts(file);
  else {
    for await (const { number: line, text } of readLines(file))
      yield { line, prompt: { id: idOf(undefined, line), text } };
  }
}

async function isJson(file: string): Promise<boolean> {
  for await (const { text } of readLines(file)) return text.trimStart().startsWith("{");
  return false;
}

async function* jsonPrompts(file: string): AsyncGenerator<PromptLine> {
  for await (const { line, row } of rowsOf(file, readLines(file), ROW, HINT)) {
    const { category, answer, regex, schema } = row;
    yield checked(file, line, {
      id: idOf(row.id, line),
      text: row.query,
      category: category == null ? undefined : categoryName(category),
      answers: answer == null ? undefined : [answer].flat(),
      regex: regex ?? undefined,
      schema: schema ?? undefined,
    });
  }
}

async function* csvPrompts(file: string): AsyncGenerator<PromptLine> {
  let header: { readonly query: number; readonly names: readonly string[] } | undefined;
  for await (const row of readCsv(file)) {
    if (!header) {
      const names = row.cells.map((name) => name.trim().toLowerCase());
      header = { ...columnsOf(file, row, ["query"]), names };
      continue;
    }
    const { names } = header;
    const cell = (name: string) => cellOf(row, names.indexOf(name));
    const text = cellOf(row, header.query);
    if (text === undefined) {
      throw new InputError({ file, line: row.line, field: "query" }, "is empty", HINT);
    }
    const [answer, category] = [cell("answer"), cell("category")];
    yield checked(file, row.line, {
      id: cell("id") ?? idOf(undefined, row.line),
      text,
      category: category === undefined ? undefined : categoryName(category),
      answers: answer === undefined ? undefined : [answer],
      regex: cell("regex"),
    });
  }
}

/** The prompt of a line, if its regular expression and its schema can be used. */
function checked(file: string, line: number, prompt: EvaluationPrompt): PromptLine {
  for (const field of ["regex", "schema"] as const) {
    const own = { id: prompt.id, text: prompt.text, [field]: prompt[field] };
    checkedAt({ file, line, field }, () => scorerOf(own, { match: "contains" }));
  }
  return { line, prompt };
}

function cellOf({ cells }: CsvRow, column: number): string | undefined {
  return cells[column]?.trim() || undefined;
}

/** The prompts that a gateway has stored. `place` is its data folder or a PostgreSQL address. */
export function storedPrompts(
  place: string,
  flag: string | undefined,
): Promise<EvaluationPrompt[]> {
  const flags = place.includes("://") ? { database: place } : { data: place };
  if ("data" in flags && !existsSync(fileOf(flags))) {
    throw new InputError(
      { file: fileOf(flags) },
      "does not exist",
      "with --from-log, the first argument is the data folder of joust serve or a PostgreSQL address: joust evaluate joust-data --from-log",
    );
  }
  return withRouter({ ...flags, router: flag }, async (store, router) => {
    const key = storeKey(process.env);
    const all = new Map<string, EvaluationPrompt>();
    let sealed = 0;
    for await (const { id } of decisionsInPages(store, router)) {
      const bytes = await store.prompt(id);
      const text = bytes && unseal(bytes, id, key);
      if (bytes && text === undefined) sealed++;
      if (text && !all.has(text)) all.set(text, { id, text });
    }
    if (all.size > 0) return [...all.values()];
    throw new InputError(
      { file: place },
      sealed > 0
        ? "has only prompts that are encrypted with another key"
        : `has no stored prompts of the router ${router}`,
      sealed > 0
        ? "set JOUST_STORE_KEY to the key that encrypted them"
        : "the gateway keeps prompts only while joust.yaml has store: {prompts: true}",
    );
  });
}
