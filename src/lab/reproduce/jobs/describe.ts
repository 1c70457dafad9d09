import { nearestCentroidAccuracy } from "../../../core/calibrate/models.ts";
import { dot, normalized } from "../../../core/linalg/linalg.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { calibrationOf } from "./calibration.ts";
import { openDraw, restrict, streamedTexts } from "./draw.ts";
import type { DescribeSpec, DescribeValue } from "./specs.ts";
import { vectorsOf } from "./vectors.ts";

/** Cosines between streamed queries, categories and models in the vectors of one encoder. */
export async function describe(spec: DescribeSpec, context: Context): Promise<Result> {
  const draw = await openDraw(spec.draw, context);
  const vector = await vectorsOf(spec.vectors, context);
  const { centroids, embeddings, categories } = calibrationOf(draw.offline, spec.told, vector);
  const { models } = restrict(draw.offline, spec.told.categories);
  const streamed = new Set(streamedTexts(draw, spec.stream));
  const queries = draw.online.queries.flatMap(({ text, category }) => {
    const m = categories.indexOf(draw.online.categories[category] ?? "");
    return streamed.has(text) && m >= 0 ? [{ m, x: normalized(vector(text)) }] : [];
  });
  const [xi, a] = [centroids.map(normalized), embeddings.map(normalized)];
  const members = categories.map((_, m) => queries.filter((query) => query.m === m));
  const value: DescribeValue = {
    categories,
    models,
    accuracy: nearestCentroidAccuracy(
      centroids,
      queries.map(({ x }) => x),
      queries.map(({ m }) => m),
    ),
    ...meanCosines(queries),
    byCategory: xi.map((row) => xi.map((column) => dot(row, column))),
    byModel: members.map((own) =>
      a.map((ak) => own.reduce((sum, { x }) => sum + dot(x, ak), 0) / own.length),
    ),
  };
  return { value };
}

/** Mean cosine over pairs of queries of one category, and over pairs of two categories. */
function meanCosines(queries: readonly { m: number; x: Float64Array }[]) {
  const sums = { within: 0, across: 0 };
  const counts = { within: 0, across: 0 };
  for (let i = 0; i < queries.length; i++) {
    for (let j = 0; j < i; j++) {
      const kind = queries[i]!.m === queries[j]!.m ? "within" : "across";
      sums[kind] += dot(queries[i]!.x, queries[j]!.x);
      counts[kind]++;
    }
  }
  return { within: sums.within / counts.within, across: sums.across / counts.across };
}
