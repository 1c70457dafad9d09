import { bestModels } from "../../core/calibrate/models.ts";
import type { Dataset } from "../data/dataset.ts";
import type { MixInstructSource } from "../reproduce/data-sets.ts";
import type { ReportItem } from "../reproduce/experiment.ts";

export interface TopShare {
  readonly model: string;
  /** Share of the queries on which the model is best; n best models of a query count 1/n each. */
  readonly share: number;
}

/** Sorted by share, the largest first. */
export function topSharesOf({ models, queries }: Dataset): TopShare[] {
  const counts = models.map(() => 0);
  for (const { scores } of queries) {
    const best = bestModels(scores!);
    for (const k of best) counts[k]! += 1 / best.length;
  }
  return models
    .map((model, k) => ({ model, share: counts[k]! / queries.length }))
    .sort((a, b) => b.share - a.share);
}

/** The paper's second table. */
export function topSharesTable(
  pool: string,
  source: Pick<MixInstructSource, "title" | "standIn">,
  dataset: Dataset,
): ReportItem {
  const title = `Models ranked first by percentage of examples (${source.title}; ${pool})`;
  const prefix = source.standIn === undefined ? "" : "stand-in-";
  const columns = [
    { key: "model", title: "Model", kind: "text" },
    { key: "share", title: "Best on", kind: "percent" },
  ] as const;
  const rows = topSharesOf(dataset).map(({ model, share }) => [model, share]);
  return {
    id: `table-top-${prefix}${pool.replaceAll(/\W+/g, "-")}`,
    title,
    caption:
      "The paper's second table, from the data used here. A shared first rank counts in equal parts.",
    draw: () => ({ kind: "table", table: { title, columns, rows } }),
  };
}
