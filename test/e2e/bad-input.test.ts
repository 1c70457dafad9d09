import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../src/core/input/folder.fixture.ts";
import { joust } from "./joust.fixture.ts";

const write = temporaryFolder();
const jsonl = (...rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join("\n");
const CSV = "model,category,perf,cost\nx,mmlu,0.5,1\ny,mmlu,0.75,3\n";
const query = { id: "a", query: "Why?", category: "mmlu" };
const outcome = { id: "a", query: "Why?", scores: { x: 1, y: 0 } };

interface BadInput {
  readonly data: string;
  readonly csv?: string;
  readonly message: RegExp;
}

/** Inputs whose error must name file, line, field, problem and hint. */
const INPUTS: Record<string, BadInput> = {
  "a model missing in the scores": {
    data: jsonl(query, { ...query, id: "b", category: "gsm8k" }),
    csv: `${CSV}x,gsm8k,0.5,1\n`,
    message:
      /scores\.csv:3: field "category": y has no score for gsm8k; .*\nhint: add a line y,gsm8k/,
  },
  "a model missing in a row's scores": {
    data: jsonl(outcome, { ...outcome, id: "b", scores: { x: 1 } }),
    message: /data\.jsonl:2: field "scores\.y": is missing\nhint: every row needs/,
  },
  "NaN in the table": {
    data: jsonl(query),
    csv: CSV.replace("0.75", "NaN"),
    message: /scores\.csv:3: field "perf": is "NaN", not a number\nhint:/,
  },
  "NaN in a row": {
    data: `${jsonl(outcome)}\n{"id":"b","query":"Who?","scores":{"x":NaN,"y":0}}`,
    message: /data\.jsonl:2: is not JSON .*\nhint: JSON has no NaN/,
  },
  "an unknown category": {
    data: jsonl(query, { ...query, id: "b", category: "chess" }),
    csv: CSV,
    message: /data\.jsonl:2: field "category": "chess" has no scores in .*\nhint: use one of mmlu/,
  },
  "an empty file": { data: "", message: /data\.jsonl: is empty\nhint:/ },
  "an empty table": { data: jsonl(query), csv: "", message: /scores\.csv: .*\nhint:/ },
  "a query without text": {
    data: jsonl(outcome, { ...outcome, id: "b", query: "  " }),
    message: /data\.jsonl:2: field "query": is empty\nhint: a row is/,
  },
  "only one model": {
    data: jsonl({ ...outcome, scores: { x: 1 } }),
    message:
      /data\.jsonl:1: field "scores": has only one model, x\nhint: routing needs at least two/,
  },
  "an id twice": {
    data: jsonl(outcome, { ...outcome, id: "b" }, outcome),
    message: /data\.jsonl:3: field "id": "a" is already on line 1\nhint:/,
  },
  "queries without scores": {
    data: jsonl(query),
    message: /data\.jsonl: holds no scores of models and no comparisons\nhint: add --scores CSV/,
  },
};

it.each(Object.entries(INPUTS))(
  "%s: exits with 2 and names place, problem and hint",
  async (name, bad) => {
    const folder = name.replaceAll(/\W+/g, "-");
    const data = write(join(folder, "data.jsonl"), bad.data);
    const scores =
      bad.csv === undefined ? [] : ["--scores", write(join(folder, "scores.csv"), bad.csv)];
    const { code, stdout, stderr } = await joust("simulate", data, ...scores);
    expect(stderr).toMatch(bad.message);
    expect(stderr).toMatch(/^joust: .*\nhint: .*\n$/);
    expect([code, stdout]).toEqual([2, ""]);
  },
);
