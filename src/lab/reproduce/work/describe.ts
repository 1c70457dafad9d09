import { nearestCentroidAccuracy } from "../../../core/calibrate/categories.ts";
import { dot, normalized } from "../../../core/linalg/linalg.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { openDraw, restrict, streamedTexts } from "./draw.ts";
import type { DescribeSpec, DescribeValue } from "./specs.ts";
import { tell } from "./tell.ts";
import { vectorsOf } from "./vectors.ts";

/** How the streamed queries lie to the categories and to the models, seen through one encoder. */
export async function describe(spec: DescribeSpec, context: Context): Promise<Result> {
  const draw = await openDraw(spec.draw, context);
  const vector = await vectorsOf(spec.vectors, context);
  const { centroids, embeddings, categories } = tell(draw.offline, spec.told, vector);
  const { models } = restrict(draw.offline, spec.told.categories);
  const streamed = new Set(streamedTexts(draw, spec.stream));
  const seen = draw.online.queries.flatMap(({ text, category }) => {
    const m = categories.indexOf(draw.online.categories[category] ?? "");
    return streamed.has(text) && m >= 0 ? [{ m, x: normalized(vector(text)) }] : [];
  });
  const [xi, a] = [centroids.map(normalized), embeddings.map(normalized)];
  const members = categories.map((_, m) => seen.filter((query) => query.m === m));
  const cosines = (rows: readonly Float64Array[], columns: readonly Float64Array[]) =>
    rows.map((row) => columns.map((column) => dot(row, column)));
  const value: DescribeValue = {
    categories,
    models,
    accuracy: nearestCentroidAccuracy(
      centroids,
      seen.map(({ x }) => x),
      seen.map(({ m }) => m),
    ),
    ...spread(seen),
    byCategory: cosines(xi, xi),
    byModel: members.map((own) => a.map((ak) => meanOf(own.map(({ x }) => dot(x, ak))))),
  };
  return { value };
}

/** Mean cosine over pairs of queries of one category, and over pairs of two. */
function spread(seen: readonly { m: number; x: Float64Array }[]) {
  const sums = { within: 0, across: 0 };
  const counts = { within: 0, across: 0 };
  for (let i = 0; i < seen.length; i++) {
    for (let j = 0; j < i; j++) {
      const kind = seen[i]!.m === seen[j]!.m ? "within" : "across";
      sums[kind] += dot(seen[i]!.x, seen[j]!.x);
      counts[kind]++;
    }
  }
  return { within: sums.within / counts.within, across: sums.across / counts.across };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
