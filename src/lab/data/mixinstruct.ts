import { z } from "zod";
import type { Outcome } from "../../core/bandit/policy.ts";
import { InputError } from "../../core/input/input-error.ts";
import { readRows } from "../../core/input/rows.ts";
import { type Format, ID, idOf, type NamedVerdict, splitPair, TEXT } from "./row.ts";

/**
 * MixInstruct's own jsonl: the query is instruction + input, the verdicts a
 * JSON string. Rows whose cmp_results is empty were never compared (all of
 * train and dev) and are left out.
 */
export const mixinstruct: Format = {
  matches: (record) => "cmp_results" in record,
  async *rows(file) {
    for await (const { line, row } of readRows(file, SHAPE, REMEDY)) {
      const comparisons = verdictsOf(row.cmp_results || "{}", file, line);
      if (comparisons.length === 0) continue;
      yield {
        file,
        line,
        id: idOf(row.id, line),
        text: row.input ? `${row.instruction}\n${row.input}` : row.instruction,
        comparisons,
      };
    }
  },
};

function verdictsOf(json: string, file: string, line: number): NamedVerdict[] {
  const fail = (field: string, problem: string) =>
    new InputError({ file, line, field }, problem, REMEDY);
  let record: unknown;
  try {
    record = JSON.parse(json);
  } catch {
    throw fail("cmp_results", "is not JSON within the string");
  }
  if (typeof record !== "object" || record === null) {
    throw fail("cmp_results", "is not an object within the string");
  }
  return Object.entries(record).map(([key, verdict]) => {
    const [a, b] = splitPair(key, "cmp_results", file, line);
    const outcome = OUTCOMES[String(verdict).trim().toLowerCase()];
    if (!outcome) throw fail(`cmp_results.${key}`, `is "${verdict}"`);
    return { a, b, outcome };
  });
}

const OUTCOMES: Record<string, Outcome> = {
  "a is better": "a",
  "b is better": "b",
  "same good": "tie",
  "same bad": "both_bad",
};

const SHAPE = z.object({
  id: ID,
  instruction: TEXT,
  input: z.string().nullish(),
  cmp_results: z.string().nullish(),
});
const REMEDY = `verdicts are {"A,B": "A is better" | "B is better" | "same good" | "same bad"}, as in MixInstruct's test split`;
