import { categoryName } from "../../core/input/categories.ts";
import { InputError, type Place } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { type ScoreTable, tabulate } from "../../core/input/scores.ts";
import { checkRows } from "./check.ts";
import type { Dataset, Query, StoredVerdict } from "./dataset.ts";
import type { Row } from "./row.ts";
import { fillMeans, verdictScores } from "./verdicts.ts";

export interface Selection {
  /** Only these models are kept; all by default. */
  readonly models?: readonly string[] | undefined;
  /** Models to leave out. */
  readonly exclude?: readonly string[] | undefined;
}

/**
 * Makes a data set from rows and an optional table of scores; names become indices. Models
 * have the order of the file, or of the table if the file names none. Categories have the
 * order in which queries name them. Without scores there are no models.
 */
export function assemble(
  rows: readonly Row[],
  table: ScoreTable | undefined,
  selection: Selection,
): Dataset {
  checkRows(rows, table);
  const { file, line, scores, comparisons } = rows[0]!;
  const models = scores
    ? select(Object.keys(scores), selection, { file, line, field: "scores" })
    : comparisons
      ? select(comparedModels(rows), selection, { file, line, field: "comparisons" })
      : table
        ? select([...table.models.keys()], selection, { file: table.file, field: "model" })
        : [];
  const measured = comparisons ? compare(rows, models) : rows.map((row) => score(row, models));

  const categories = new Map<string, number>();
  const categoryOf = ({ category }: Row): number => {
    if (category === undefined) return -1;
    const name = categoryName(category);
    if (!categories.has(name)) categories.set(name, categories.size);
    return categories.get(name)!;
  };
  const queries = measured.map(({ row, ...own }) => ({
    id: row.id,
    text: row.text,
    category: categoryOf(row),
    ...own,
  }));
  const names = [...categories.keys()];
  return {
    models,
    categories: names,
    queries,
    ...(table && { scores: tabulate(table, models, names) }),
  };
}

/** The numbers of a query and the row that they came from. */
type Measured = Pick<Query, "scores" | "costs" | "comparisons"> & { readonly row: Row };

function score(row: Row, models: readonly string[]): Measured {
  const vector = (values: Readonly<Record<string, number>>) =>
    Float64Array.from(models, (model) => values[model]!);
  return {
    row,
    ...(row.scores && { scores: vector(row.scores) }),
    ...(row.costs && { costs: vector(row.costs) }),
  };
}

/** Drops queries without a verdict on two of the kept models. */
function compare(rows: readonly Row[], models: readonly string[]): Measured[] {
  const index = new Map(models.map((model, k) => [model, k]));
  const measured = rows.flatMap((row) => {
    const comparisons = row.comparisons!.flatMap(({ a, b, outcome }): StoredVerdict[] => {
      const [i, j] = [index.get(a), index.get(b)];
      return i === undefined || j === undefined ? [] : [{ a: i, b: j, outcome }];
    });
    if (comparisons.length === 0) return [];
    return [{ row, comparisons, scores: verdictScores(comparisons, models.length) }];
  });
  const scores = measured.map((query) => query.scores);
  const lonely = models.find((_, k) => scores.every((row) => Number.isNaN(row[k]!)));
  if (lonely !== undefined) {
    throw new InputError(
      { file: rows[0]!.file },
      `${lonely} is never compared with another model that is kept`,
      `exclude ${lonely} too (--exclude ${lonely}), or keep a model that it was compared with`,
    );
  }
  fillMeans(scores, models.length);
  return measured;
}

/** Models in the order in which comparisons name them. */
function comparedModels(rows: readonly Row[]): string[] {
  const found = new Set<string>();
  for (const row of rows) for (const { a, b } of row.comparisons!) found.add(a).add(b);
  return [...found];
}

/** The selected models in their known order. Throws if fewer than two are left. */
function select(known: readonly string[], { models, exclude }: Selection, place: Place): string[] {
  if (known.length < 2) {
    const found = known[0] === undefined ? "no model" : `only one model, ${known[0]}`;
    throw new InputError(place, `has ${found}`, "routing needs at least two models: add another");
  }
  const given = { "--models": models, "--exclude": exclude };
  for (const [flag, names] of Object.entries(given)) {
    const unknown = names?.find((name) => !known.includes(name));
    if (unknown === undefined) continue;
    throw new InputError(
      { file: flag },
      `${place.file} has no model "${unknown}"`,
      `${didYouMean(unknown, known)}it has ${known.join(", ")}`,
    );
  }
  const kept = known.filter((name) => (models?.includes(name) ?? true) && !exclude?.includes(name));
  if (kept.length >= 2) return kept;
  throw new InputError(
    { file: exclude ? "--exclude" : "--models" },
    `leaves ${kept[0] ? `only ${kept[0]}` : "no model"}`,
    `routing needs at least two models; choose from ${known.join(", ")}`,
  );
}
