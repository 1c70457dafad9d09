import { axpy, dot, inverse, mean, multiply, rankOne } from "../../linalg/linalg.ts";
import { staticRouter } from "./static-router.ts";

/** One ridge regression per model, from the embedding to the score, with an intercept that is not shrunk. */
export const staticRidge = staticRouter({
  name: "static-ridge",
  summary: "linear regression of scores on embeddings; never learns from votes",
  source: "the linear router of RouterBench (Hu et al. 2024)",
  defaults: { lambda: 10 },
  about: { lambda: { meaning: "penalty of the squared coefficients", above: 0 } },
  train(evaluated, { lambda }) {
    const centre = mean(evaluated.map(({ x }) => x));
    const level = mean(evaluated.map(({ scores }) => scores));
    const d = centre.length;
    const A = new Float64Array(d * d);
    for (let i = 0; i < d; i++) A[i * d + i] = lambda;
    const right = Array.from(level, () => new Float64Array(d));
    for (const { x, scores } of evaluated) {
      const row = x.map((value, i) => value - centre[i]!);
      rankOne(A, 1, row);
      right.forEach((sum, k) => {
        axpy(scores[k]! - level[k]!, row, sum);
      });
    }
    const inverted = inverse(A, d);
    const coefficients = right.map((sum) => {
      const out = new Float64Array(d);
      multiply(inverted, sum, out);
      return out;
    });
    return (x) =>
      level.map((base, k) => base + dot(coefficients[k]!, x) - dot(coefficients[k]!, centre));
  },
});
