import type { Pool } from "../bandit/policy.ts";
import type { Bundle } from "./bundle.ts";

/** The models and categories of a bundle, as a policy takes them. Costs are left out unless all models have them. */
export function poolOfBundle({ models, categories }: Bundle): Pool {
  const costs = models.flatMap((model) => model.costs ?? []);
  return {
    models: models.map(({ name }) => name),
    categories: categories.map(({ name }) => name),
    centroids: categories.map(({ xi }) => xi),
    told: models.map(({ scores }) => scores),
    fitted: models.map(({ embedding }) => embedding),
    ...(costs.length === models.length && { costs }),
  };
}
