/** The paper's tables that are made of RouterBench's Perf and Cost: its first and third, and the radar of its models. */
import { excelMask, perfCost, round3 } from "../../core/bandit/weighting.ts";
import { readScores, tabulate } from "../data/scores.ts";
import { type HeatMap, heatMapsSvg, largest } from "../report/heat-map.ts";
import { radarSvg } from "../report/radar.ts";
import type { Cell, Column } from "../report/table.ts";
import { PRICE } from "./bench.ts";
import type { Exhibit } from "./experiment.ts";

export interface Scores {
  readonly models: readonly string[];
  readonly categories: readonly string[];
  readonly perf: readonly Float64Array[];
  readonly cost: readonly Float64Array[];
}

export async function openScores(path: string): Promise<Scores> {
  const table = await readScores(path);
  const [models, categories] = [[...table.models.keys()], [...table.categories]];
  return { models, categories, ...tabulate(table, models, categories) };
}

/** Without models that are no candidates. */
export function without(scores: Scores, excluded: readonly string[]): Scores {
  const kept = [...scores.models.keys()].filter((k) => !excluded.includes(scores.models[k]!));
  return {
    ...scores,
    models: kept.map((k) => scores.models[k]!),
    perf: kept.map((k) => scores.perf[k]!),
    cost: kept.map((k) => scores.cost[k]!),
  };
}

/** The paper's first table: (i) Perf - 0.05 Cost, (ii) the same where a model excels, (iii) the mask. */
export function weightingTable(scores: Scores): Exhibit {
  const values = perfCost(scores.perf, scores.cost, PRICE);
  const mask = excelMask(values, { tau: 3, denseRank: false });
  const printed = excelMask(values, { tau: 3, denseRank: true });
  const columns = scores.categories.flatMap((name): Column[] => [
    { key: `${name}_i`, title: `${name} (i)`, kind: "number" },
    { key: `${name}_ii`, title: "(ii)", kind: "number" },
    { key: `${name}_iii`, title: "(iii)", kind: "number" },
  ]);
  const rows = scores.models.map((model, k): Cell[] => [
    model,
    ...scores.categories.flatMap((_, m) => {
      const value = round3(values[k]![m]!).toFixed(3);
      const excels = mask[k]![m]!;
      return [value, excels ? value : "0", String(excels)];
    }),
  ]);
  const differing = scores.models.flatMap((model, k) =>
    scores.categories.flatMap((category, m) =>
      mask[k]![m] === printed[k]![m] ? [] : [`${model} on ${category}`],
    ),
  );
  const title = "Scores of Perf_cost (i), Excel_perf_cost (ii) and Excel_mask (iii)";
  return {
    id: "table-weighting",
    title,
    caption: `The paper's first table, by its eq. (5) on unrounded values. Ranking rounded values, equals sharing a rank, as the printed table does, would add ${differing.join(", ") || "nothing"}.`,
    draw: () => ({
      kind: "table",
      table: { title, columns: [{ key: "model", title: "LLM", kind: "text" }, ...columns], rows },
    }),
  };
}

/** The paper's third table, which is Table 1 of RouterBench. */
export function priceTable({ models, categories, perf, cost }: Scores): Exhibit {
  const title = "Performance and cost across benchmarks";
  const columns = categories.flatMap((name): Column[] => [
    { key: `${name}_perf`, title: `${name} Perf`, kind: "number" },
    { key: `${name}_cost`, title: "Cost", kind: "number" },
  ]);
  const rows = models.map((model, k): Cell[] => [
    model,
    ...categories.flatMap((_, m) => [printed(perf[k]![m]!), printed(cost[k]![m]!)]),
  ]);
  return {
    id: "table-perf-cost",
    title,
    caption:
      "The paper's third table: what is told to routers, and what is true in the RouterBench experiments. Costs are in its unit.",
    draw: () => ({
      kind: "table",
      table: { title, columns: [{ key: "model", title: "LLM", kind: "text" }, ...columns], rows },
    }),
  };
}

/** With the paper's digits. */
function printed(value: number): string {
  return value.toFixed(value < 10 ? 3 : 2);
}

/** A Kiviat diagram for each model. */
export function radarExhibit({ models, categories, perf }: Scores): Exhibit {
  const title = "Model strengths: Perf on each benchmark, 0 to 1 from the middle outwards";
  return {
    id: "radar",
    title,
    withoutQueries: true,
    caption:
      "The Kiviat diagrams that categorical weighting rests on (section 4.2). Rings at 0.25, 0.5, 0.75 and 1.",
    draw: () => ({
      kind: "figure",
      svg: radarSvg({
        title,
        axes: categories,
        models: models.map((name, k) => ({ name, values: [...perf[k]!] })),
      }),
    }),
  };
}

/** Utilities as the experiments have them. */
export function utilityExhibit({ models, categories, perf, cost }: Scores): Exhibit {
  const title = "Utility of every model on every benchmark: Perf, and Perf less 0.05 Cost";
  const mapOf = (title: string, rows: readonly Float64Array[]): HeatMap => {
    const values = categories.map((_, m) => models.map((_, k) => rows[k]![m]!));
    return { title, rows: categories, columns: models, values, outlined: largest(values) };
  };
  return {
    id: "utilities",
    title,
    withoutQueries: true,
    caption:
      "A query's utility is its benchmark's. Outlined: the best model of each benchmark, two where two are equal. Under Perf the best model of GSM8k and ARC is one that the excel masks leave out, since they rank Perf less 0.05 Cost.",
    draw: () => ({
      kind: "figure",
      svg: heatMapsSvg(title, [
        mapOf("Perf", perf),
        mapOf("Perf \u2212 0.05 Cost", perfCost(perf, cost, PRICE)),
      ]),
    }),
  };
}
