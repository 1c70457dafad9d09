import { normalized } from "../../../core/linalg/linalg.ts";
import { Random } from "../../../core/random/random.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { openData } from "./open-data.ts";
import type { ProjectSpec, ProjectValue } from "./specs.ts";
import { tsne } from "./tsne.ts";
import { vectorsOf } from "./vectors.ts";

/** scikit-learn's default perplexity. After 750 iterations the picture hardly changes. */
const OPTIONS = { dimensions: 3, perplexity: 30, iterations: 750 };

/** The vectors of all queries in three dimensions. */
export async function project(
  { data, vectors, seed }: ProjectSpec,
  context: Context,
): Promise<Result> {
  const { queries, categories } = await openData(data, context);
  const vector = await vectorsOf(vectors, context);
  const x = queries.map(({ text }) => normalized(vector(text)));
  const onIteration = (i: number) => context.check(i / OPTIONS.iterations);
  const { points, divergence } = tsne(x, { ...OPTIONS, onIteration }, Random.seeded(seed));
  const value: ProjectValue = {
    categories,
    category: queries.map(({ category }) => category),
    points: x.map((_, i) => [points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!] as const),
    divergence,
  };
  return { value };
}
