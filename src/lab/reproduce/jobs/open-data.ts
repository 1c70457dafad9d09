import type { Dataset } from "../../data/dataset.ts";
import type { Context, JobId } from "../../jobs/job.ts";

/** A data set as JSON. */
type DatasetValue = ReturnType<typeof datasetValue>;

export function datasetValue({ models, categories, queries, scores }: Dataset) {
  const rows = (table: readonly Float64Array[]) => table.map((row) => [...row]);
  return {
    models,
    categories,
    queries: queries.map(({ scores, costs, ...query }) => ({
      ...query,
      ...(scores && { scores: [...scores] }),
      ...(costs && { costs: [...costs] }),
    })),
    ...(scores && { scores: { perf: rows(scores.perf), cost: rows(scores.cost) } }),
  };
}

/** The result of a data job. */
export function openData(id: JobId, context: Context): Promise<Dataset> {
  return context.memo(`data ${id}`, async () => {
    const value = (await context.input(id)).value as DatasetValue;
    const rows = (table: number[][]) => table.map((row) => Float64Array.from(row));
    const { scores } = value;
    return {
      models: value.models,
      categories: value.categories,
      queries: value.queries.map(({ scores, costs, ...query }) => ({
        ...query,
        ...(scores && { scores: Float64Array.from(scores) }),
        ...(costs && { costs: Float64Array.from(costs) }),
      })),
      ...(scores && { scores: { perf: rows(scores.perf), cost: rows(scores.cost) } }),
    };
  });
}
