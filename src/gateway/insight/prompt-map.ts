import type { PromptMap } from "../../api/insight.ts";
import { symmetricEigen } from "../../core/linalg/eigen.ts";
import { axpy, dot, mean } from "../../core/linalg/linalg.ts";
import { isDuel } from "../../store/decision.ts";
import { isHidden } from "../../store/hidden.ts";
import type { Store } from "../../store/store.ts";
import { shownModels } from "./decision-view.ts";
import type { PosteriorView } from "./traffic.ts";

/**
 * GET /v1/map: recent prompts as points of a plane, with similar prompts close together. The plane
 * is the one in which the categories lie furthest apart, so it does not change with the prompts.
 */
export async function promptMap(
  store: Store,
  router: string,
  { pool, membership, encoder }: PosteriorView,
  owner: string | undefined,
  limit: number,
): Promise<PromptMap> {
  const { categories, centroids } = pool;
  const place = planeOf(centroids);
  const records = await store.decisions({ router, owner, limit, withX: true });
  const comparable = records.filter(({ decision }) => decision.encoder === encoder);
  const points = comparable.map((record) => {
    const { id, at } = record.decision;
    const x = record.decision.x!;
    const w = membership(x);
    return {
      id,
      at: new Date(at).toISOString(),
      ...place(x),
      category: categories[w.indexOf(Math.max(...w))]!,
      duel: isDuel(record.decision),
      ...(!isHidden(record) && { models: shownModels(record) }),
    };
  });
  return {
    object: "map",
    router,
    categories: categories.map((category, m) => ({ category, ...place(centroids[m]!) })),
    points,
  };
}

/** Projects embeddings onto the plane of the first two principal components of the centroids. */
export function planeOf(
  centroids: readonly Float64Array[],
): (x: Float64Array) => { readonly x: number; readonly y: number } {
  const M = centroids.length;
  const middle = mean([...centroids]);
  const rows = centroids.map((row) => row.map((value, i) => value - middle[i]!));
  // The components are combinations of the rows R: if R R^T u = s u, then R^T u has the length sqrt(s).
  const gram = new Float64Array(M * M);
  for (let i = 0; i < M; i++) for (let j = 0; j < M; j++) gram[i * M + j] = dot(rows[i]!, rows[j]!);
  // The centred rows are dependent. A small diagonal makes the matrix regular and keeps its eigenvectors.
  const total = rows.reduce((sum, row) => sum + dot(row, row), 0);
  for (let i = 0; i < M; i++) gram[i * M + i]! += 1e-9 * (total || 1);
  const { values, vectors } = symmetricEigen(gram, M);
  const axes = [0, 1].map((i) => {
    const axis = new Float64Array(middle.length);
    const size = values[i] ?? 0;
    if (size <= 1e-8 * total) return axis; // fewer than three categories have no second component
    const length = Math.sqrt(size);
    rows.forEach((row, m) => {
      axpy(vectors[i * M + m]! / length, row, axis);
    });
    return axis;
  });
  const offset = axes.map((axis) => dot(axis, middle));
  return (x) => ({ x: dot(axes[0]!, x) - offset[0]!, y: dot(axes[1]!, x) - offset[1]! });
}
