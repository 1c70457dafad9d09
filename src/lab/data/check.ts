import { categoryName } from "../../core/input/categories.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { ScoreTable } from "../../core/input/scores.ts";
import type { Row } from "./row.ts";

/** Checks the rows of a file against each other. */
export function checkRows(rows: readonly Row[], table: ScoreTable | undefined): void {
  checkIds(rows);
  checkCategories(rows, table);
  for (const row of rows) {
    checkModels("scores", row, rows[0]!);
    checkModels("costs", row, rows[0]!);
  }
}

function checkIds(rows: readonly Row[]): void {
  const seen = new Map<string, Row>();
  for (const row of rows) {
    const earlier = seen.get(row.id);
    if (earlier) {
      throw new InputError(
        { file: row.file, line: row.line, field: "id" },
        `"${row.id}" is already on line ${earlier.line}`,
        "give every query an id of its own, or none at all",
      );
    }
    seen.set(row.id, row);
  }
}

/**
 * Either all rows name a category or none does. With a table of scores, every row must name a
 * category of the table.
 */
function checkCategories(rows: readonly Row[], table: ScoreTable | undefined): void {
  const named = rows.find((row) => row.category !== undefined);
  if (!named && !table) return;
  const known = table && [...table.categories].join(", ");
  for (const { file, line, category, categoryField } of rows) {
    const place = { file, line, field: categoryField ?? named?.categoryField ?? "category" };
    if (category === undefined) {
      throw new InputError(
        place,
        `is missing, but ${named ? `line ${named.line} has it` : "scores are given by category"}`,
        known ? `name one on every row: ${known}` : "name one on every row or on none",
      );
    }
    if (table && !table.categories.has(categoryName(category))) {
      throw new InputError(
        place,
        `"${category}" has no scores in ${table.file}`,
        `use one of ${known}, or add its scores`,
      );
    }
  }
}

/** Every row has numbers for the models of the first row, or no row has such numbers. */
function checkModels(field: "scores" | "costs", row: Row, first: Row): void {
  const { file, line } = row;
  const values = row[field];
  if (!values || !first[field]) {
    if (!values === !first[field]) return;
    const [has, lacks] = values ? [line, first.line] : [first.line, line];
    throw new InputError(
      { file, line: lacks, field },
      `is missing, but line ${has} has it`,
      "give it on every row or on none",
    );
  }
  const models = Object.keys(first.scores!);
  const missing = models.find((model) => values[model] === undefined);
  if (missing !== undefined) {
    throw new InputError(
      { file, line, field: `${field}.${missing}` },
      "is missing",
      `every row needs the models of line ${first.line}: ${models.join(", ")}`,
    );
  }
  if (Object.keys(values).length === models.length) return;
  const extra = Object.keys(values).find((model) => !models.includes(model));
  throw new InputError(
    { file, line, field: `${field}.${extra}` },
    `names a model that line ${first.line} does not score`,
    `every row needs the same models: add ${extra} to the others or leave it out`,
  );
}
