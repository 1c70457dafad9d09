import { Random } from "../../core/random/random.ts";
import type { Dataset, Query } from "../data/dataset.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import { SETTINGS, type Settings } from "./settings.ts";

/** Three models, categories x (6 queries) and y (4), scores and costs by category. */
export const TABLED: Dataset = {
  models: ["a", "b", "c"],
  categories: ["x", "y"],
  queries: Array.from({ length: 10 }, (_, i) => query(i, i < 6 ? 0 : 1)),
  scores: {
    perf: [Float64Array.of(0.9, 0.1), Float64Array.of(0.5, 0.5), Float64Array.of(0, 1)],
    cost: [Float64Array.of(4, 4), Float64Array.of(1, 2), Float64Array.of(0, 3)],
  },
};

/** The same queries with scores of their own, costs too, and no categories. */
export const SCORED: Dataset = {
  models: ["a", "b", "c"],
  categories: [],
  queries: Array.from({ length: 10 }, (_, i) => ({
    ...query(i, -1),
    scores: Float64Array.of(i < 6 ? 1 : 0, 0.5, i < 6 ? 0 : i / 10),
    costs: Float64Array.of(i, 1, 2),
  })),
};

function query(i: number, category: number): Query {
  return { id: String(i), text: "", category };
}

/** Query i is the vector (1, i). */
export function world(
  dataset: Dataset,
  settings: Partial<Settings> = {},
  random: Random = Random.seeded(1),
): Environment {
  const vectors = dataset.queries.map((_, i) => Float64Array.of(1, i));
  return createEnvironment(dataset, vectors, { ...SETTINGS, ...settings }, random);
}
