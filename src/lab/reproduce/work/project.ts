import { normalized } from "../../../core/linalg/linalg.ts";
import { Random } from "../../../core/random/random.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { openData } from "./data.ts";
import type { ProjectSpec, ProjectValue } from "./specs.ts";
import { tsne } from "./tsne.ts";
import { vectorsOf } from "./vectors.ts";

/** scikit-learn's usual perplexity; past 750 iterations the picture hardly moves. */
const OPTIONS = { dimensions: 3, perplexity: 30, iterations: 750 };

/** The queries that have vectors, in three dimensions. */
export async function project(
  { data, vectors, seed }: ProjectSpec,
  context: Context,
): Promise<Result> {
  const { queries, categories } = await openData(data, context);
  const vector = await vectorsOf(vectors, context);
  const x = queries.map(({ text }) => normalized(vector(text)));
  const onIteration = () => context.check();
  const { points, divergence } = tsne(x, { ...OPTIONS, onIteration }, Random.seeded(seed));
  const value: ProjectValue = {
    categories,
    category: queries.map(({ category }) => category),
    points: x.map((_, i) => [points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!] as const),
    divergence,
  };
  return { value };
}
