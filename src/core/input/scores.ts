import { categoryName } from "./categories.ts";
import { type CsvRow, columnsOf, readCsv } from "./csv.ts";
import { InputError } from "./input-error.ts";
import { readLines } from "./lines.ts";

/**
 * A csv file with the columns model,category,perf,cost; rows and columns in any order. An optional
 * column says how precise perf is: `se`, its standard error, or `n`, the number of queries it is
 * a mean of.
 */
export interface ScoreTable {
  readonly file: string;
  /** Scores by model, then by category. */
  readonly models: ReadonlyMap<string, ReadonlyMap<string, Score>>;
  readonly categories: ReadonlySet<string>;
}

interface Score {
  readonly line: number;
  readonly perf: number;
  readonly cost: number;
  /** Standard error of perf, NaN if it is unknown. */
  readonly error: number;
}

export const COLUMNS = ["model", "category", "perf", "cost"] as const;

export async function readScores(file: string): Promise<ScoreTable> {
  const models = new Map<string, Map<string, Score>>();
  const categories = new Set<string>();
  let column: Record<(typeof COLUMNS)[number], number> | undefined;
  let precision: PrecisionColumn | undefined;
  await refuseJson(file);
  for await (const row of readCsv(file)) {
    if (!column) {
      column = columnsOf(file, row, COLUMNS);
      precision = precisionColumn(file, row);
      continue;
    }
    const { line, cells } = row;
    const cell = (field: (typeof COLUMNS)[number]): string => {
      const text = cells[column![field]]?.trim();
      if (!text) throw new InputError({ file, line, field }, "is empty", HINT);
      return text;
    };
    const model = cell("model");
    const category = categoryName(cell("category"));
    const perf = parseNumber(cell("perf"), { file, line, field: "perf" });
    const cost = parseNumber(cell("cost"), { file, line, field: "cost" });
    if (perf < 0 || perf > 1) {
      const hint = "perf lies within 0..1: divide percentages by 100, map other scales to it";
      throw new InputError({ file, line, field: "perf" }, `is ${perf}`, hint);
    }
    if (cost < 0) throw new InputError({ file, line, field: "cost" }, `is ${cost}`, HINT);
    const error = precision ? errorOf(row, precision, perf, file) : Number.NaN;

    const scores = models.get(model) ?? new Map<string, Score>();
    const earlier = scores.get(category);
    if (earlier) {
      throw new InputError(
        { file, line, field: "category" },
        `${model} already has a score for ${category} on line ${earlier.line}`,
        "leave one of the two lines out",
      );
    }
    models.set(model, scores.set(category, { line, perf, cost, error }));
    categories.add(category);
  }
  if (models.size === 0) throw new InputError({ file }, "holds no scores", HINT);
  return { file, models, categories };
}

interface PrecisionColumn {
  readonly field: "se" | "n";
  readonly index: number;
}

function precisionColumn(file: string, { line, cells }: CsvRow): PrecisionColumn | undefined {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const [se, n] = [names.indexOf("se"), names.indexOf("n")];
  if (se >= 0 && n >= 0) {
    throw new InputError(
      { file, line, field: "se" },
      "is a column beside n, which says the same",
      "leave one of the two columns out",
    );
  }
  if (se >= 0) return { field: "se", index: se };
  return n >= 0 ? { field: "n", index: n } : undefined;
}

/** Standard error of a score, NaN if its cell is empty. */
function errorOf(
  { line, cells }: CsvRow,
  { field, index }: PrecisionColumn,
  perf: number,
  file: string,
): number {
  const text = cells[index]?.trim();
  if (!text) return Number.NaN;
  const place = { file, line, field };
  const value = parseNumber(text, place);
  if (field === "se" && value < 0) {
    throw new InputError(
      place,
      `is ${value}`,
      "a standard error is 0 or more; leave it empty if it is unknown",
    );
  }
  if (field === "n" && value < 1) {
    throw new InputError(
      place,
      `is ${value}`,
      "n counts the queries of a mean; leave it empty if it is unknown",
    );
  }
  return field === "se" ? value : errorOfMean(perf, value);
}

/** Standard error of a mean `score` over n queries, whose scores are 0 or 1. Two more queries, one of each, keep it above 0. */
function errorOfMean(score: number, n: number): number {
  const p = (n * score + 1) / (n + 2);
  return Math.sqrt((p * (1 - p)) / n);
}

/** Refuses a jsonl file, which is easily confused with the csv file. */
async function refuseJson(file: string): Promise<void> {
  for await (const { number, text } of readLines(file)) {
    if (!/^\s*[{[]/.test(text)) return;
    throw new InputError(
      { file, line: number },
      "is JSON, not a csv of scores",
      "give queries and outcomes as DATA, and a csv model,category,perf,cost as --scores",
    );
  }
}

function parseNumber(text: string, place: { file: string; line: number; field: string }): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new InputError(place, `is "${text}", not a number`, HINT);
  return value;
}

/**
 * The table as K rows of M numbers. Every model must have a score in every category. `errors`
 * are the standard errors of perf, if the table has any.
 */
export function tabulate(
  table: ScoreTable,
  models: readonly string[],
  categories: readonly string[],
): Tabulated {
  const scores = models.map((model) => {
    const row = table.models.get(model);
    if (!row) {
      throw new InputError(
        { file: table.file, field: "model" },
        `has no line for ${model}, which the data has`,
        `add ${model}, or leave it out: --exclude ${model}`,
      );
    }
    return categories.map((category) => {
      const score = row.get(category);
      if (score) return score;
      const [first] = row.values();
      throw new InputError(
        { file: table.file, line: first?.line, field: "category" },
        `${model} has no score for ${category}; the first line of ${model} is here`,
        `add a line ${model},${category},PERF,COST, or leave ${model} out: --exclude ${model}`,
      );
    });
  });
  return {
    perf: scores.map((row) => Float64Array.from(row, (score) => score.perf)),
    cost: scores.map((row) => Float64Array.from(row, (score) => score.cost)),
    ...(scores.flat().some(({ error }) => !Number.isNaN(error)) && {
      errors: scores.map((row) => Float64Array.from(row, ({ error }) => error)),
    }),
  };
}

export interface Tabulated {
  readonly perf: readonly Float64Array[];
  readonly cost: readonly Float64Array[];
  readonly errors?: readonly Float64Array[];
}

const HINT = `lines are ${COLUMNS.join(",")}: perf a number within 0..1, cost a number not below 0 (0 where unknown)`;
