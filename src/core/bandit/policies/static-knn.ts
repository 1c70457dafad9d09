import { axpy, dot, normalized } from "../../linalg/linalg.ts";
import { staticRouter } from "./static-router.ts";

/** The k-nearest-neighbour router of RouterBench: mean scores of the most similar evaluated queries. */
export const staticKnn = staticRouter({
  name: "static-knn",
  summary: "best mean score on the k nearest evaluated queries; never learns from votes",
  source: "the k-NN router of RouterBench (Hu et al. 2024)",
  defaults: { k: 80 },
  about: { k: { meaning: "number of nearest evaluated queries", integer: true, min: 1 } },
  train(evaluated, { k }) {
    const rows = evaluated.map(({ x, scores }) => ({ x: normalized(x), scores }));
    return (x) => {
      const similarity = Float64Array.from(rows, (row) => dot(row.x, x));
      const nearest = [...rows.keys()].sort((i, j) => similarity[j]! - similarity[i]! || i - j);
      const used = nearest.slice(0, k);
      const out = new Float64Array(rows[0]!.scores.length);
      for (const i of used) axpy(1 / used.length, rows[i]!.scores, out);
      return out;
    };
  },
});
