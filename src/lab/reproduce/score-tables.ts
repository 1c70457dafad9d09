/** The tables and figures that are computed from RouterBench's Perf and Cost alone. */
import { excelMask, perfCost, round3 } from "../../core/bandit/weighting.ts";
import { readScores, tabulate } from "../../core/input/scores.ts";
import { heatMapPicture, outlineLargest } from "../report/heat-map.ts";
import { radarPicture } from "../report/radar.ts";
import { GREY } from "../report/svg.ts";
import { type CellColumn, tableOf } from "../report/table.ts";
import type { ReportItem } from "./experiment.ts";
import { PRICE } from "./planner.ts";

export interface Scores {
  readonly models: readonly string[];
  readonly categories: readonly string[];
  /** perf[model][category] */
  readonly perf: readonly Float64Array[];
  readonly cost: readonly Float64Array[];
}

export async function openScores(path: string): Promise<Scores> {
  const table = await readScores(path);
  const [models, categories] = [[...table.models.keys()], [...table.categories]];
  return { models, categories, ...tabulate(table, models, categories) };
}

export function without(scores: Scores, excluded: readonly string[]): Scores {
  const kept = [...scores.models.keys()].filter((k) => !excluded.includes(scores.models[k]!));
  return {
    ...scores,
    models: kept.map((k) => scores.models[k]!),
    perf: kept.map((k) => scores.perf[k]!),
    cost: kept.map((k) => scores.cost[k]!),
  };
}

/** A table with a row per model and some cells per category. */
function modelTable(
  head: Omit<ReportItem, "draw">,
  { models, categories }: Scores,
  titles: readonly string[],
  cellsOf: (k: number, m: number) => readonly string[],
): ReportItem {
  const columns = categories.flatMap((name, m) =>
    titles.map((title, c): CellColumn<number> => {
      const key = `${name}_${title.replace(/\W/g, "").toLowerCase()}`;
      const cell = (k: number) => cellsOf(k, m)[c]!;
      return { key, title: c === 0 ? `${name} ${title}` : title, kind: "number", cell };
    }),
  );
  const name = {
    key: "model",
    title: "LLM",
    kind: "text",
    cell: (k: number) => models[k]!,
  } as const;
  const table = tableOf(head.title, [...models.keys()], [name, ...columns]);
  return { ...head, draw: () => ({ kind: "table", table }) };
}

/** The paper's first table: (i) Perf - 0.05 Cost, (ii) the same where a model excels, (iii) the mask. */
export function weightingTable(scores: Scores): ReportItem {
  const { models, categories } = scores;
  const values = perfCost(scores.perf, scores.cost, PRICE);
  const mask = excelMask(values, { tau: 3, denseRank: false });
  const printed = excelMask(values, { tau: 3, denseRank: true });
  const differing = models.flatMap((model, k) =>
    categories.flatMap((category, m) =>
      mask[k]![m] === printed[k]![m] ? [] : [`${model} on ${category}`],
    ),
  );
  const head = {
    id: "table-weighting",
    title: "Scores of Perf_cost (i), Excel_perf_cost (ii) and Excel_mask (iii)",
    caption: `The paper's first table, by its eq. (5) on unrounded values. The table printed in the paper ranks rounded values, and equal values share a rank. With that rule these entries would be marked too: ${differing.join(", ") || "none"}.`,
  };
  return modelTable(head, scores, ["(i)", "(ii)", "(iii)"], (k, m) => {
    const value = round3(values[k]![m]!).toFixed(3);
    const excels = mask[k]![m]!;
    return [value, excels ? value : "0", String(excels)];
  });
}

/** The paper's third table, which is Table 1 of RouterBench. */
export function priceTable(scores: Scores): ReportItem {
  const head = {
    id: "table-perf-cost",
    title: "Performance and cost across benchmarks",
    caption:
      "The paper's third table: the scores that routers are told, and the true scores in the RouterBench experiments. Costs are in its unit.",
  };
  const digits = (value: number) => value.toFixed(value < 10 ? 3 : 2); // as in the paper
  return modelTable(head, scores, ["Perf", "Cost"], (k, m) => [
    digits(scores.perf[k]![m]!),
    digits(scores.cost[k]![m]!),
  ]);
}

/** A Kiviat diagram per model. */
export function radarFigure({ models, categories, perf }: Scores): ReportItem {
  const pictures = models.map((name, k) => {
    const values = new Map(categories.map((category, m) => [category, perf[k]![m]!]));
    return radarPicture({ name, values, color: k % GREY });
  });
  return {
    id: "radar",
    title: "Model strengths: Perf on each benchmark, 0 to 1 from the middle outwards",
    withoutQueries: true,
    caption:
      "The Kiviat diagrams on which categorical weighting is based (section 4.2). Rings at 0.25, 0.5, 0.75 and 1.",
    draw: () => ({ kind: "figure", pictures }),
  };
}

/** The utilities of the experiments. */
export function utilityFigure({ models, categories, perf, cost }: Scores): ReportItem {
  const pictureOf = (title: string, rows: readonly Float64Array[]) => {
    const cells = categories.flatMap((row, m) =>
      models.map((column, k) => ({ row, column, value: rows[k]![m]! })),
    );
    return heatMapPicture({
      title,
      rows: categories,
      columns: models,
      cells: outlineLargest(cells),
    });
  };
  return {
    id: "utilities",
    title: "Utility of every model on every benchmark: Perf, and Perf - 0.05 Cost",
    withoutQueries: true,
    caption:
      "The utility of a query is that of its benchmark. Outlined: the best models of each benchmark. Under Perf the best model of GSM8k and ARC is one that the excel masks leave out, since they rank by Perf - 0.05 Cost.",
    draw: () => ({
      kind: "figure",
      pictures: [
        pictureOf("Perf", perf),
        pictureOf("Perf \u2212 0.05 Cost", perfCost(perf, cost, PRICE)),
      ],
    }),
  };
}
