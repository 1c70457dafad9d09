import { bestModels } from "../../core/calibrate/models.ts";
import type { Dataset } from "../data/dataset.ts";
import type { MixInstructSource } from "../reproduce/data-sets.ts";
import type { Exhibit } from "../reproduce/experiment.ts";

export interface TopShare {
  readonly model: string;
  /** Of the queries on which it is best; a joint best counts 1/n for each. */
  readonly share: number;
}

/** Largest first. */
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

/** The paper's second table, from the data at hand. */
export function topShares(
  pool: string,
  source: Pick<MixInstructSource, "title" | "standIn">,
  dataset: Dataset,
): Exhibit {
  const title = `Models ranked first by percentage of examples (${source.title}; ${pool})`;
  const stoodIn = source.standIn === undefined ? "" : "stand-in-";
  return {
    id: `table-top-${stoodIn}${pool.replaceAll(/\W+/g, "-")}`,
    title,
    caption:
      "The paper's second table, from the data at hand. A joint first counts in equal parts.",
    draw: () => ({
      kind: "table",
      table: {
        title,
        columns: [
          { key: "model", title: "Model", kind: "text" },
          { key: "share", title: "Best on", kind: "percent" },
        ],
        rows: topSharesOf(dataset).map(({ model, share }) => [model, share]),
      },
    }),
  };
}
