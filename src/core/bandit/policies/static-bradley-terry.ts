import { axpy, dot } from "../../linalg/linalg.ts";
import { minimize } from "../../linalg/minimize.ts";
import { pairwiseLoss } from "../pairwise-loss.ts";
import { staticRouter } from "./static-router.ts";

/** A Bradley-Terry rating of every model that is linear in the embedding, fitted to all pairs of scores. */
export const staticBradleyTerry = staticRouter({
  name: "static-bradley-terry",
  summary: "Bradley-Terry ratings, linear in the embedding; never learns from votes",
  source: "Prompt-to-Leaderboard (Frick et al. 2025), on embeddings",
  defaults: { lambda: 1, steps: 40 },
  about: {
    lambda: { meaning: "penalty of the squared coefficients, relative to a query", above: 0 },
    steps: { meaning: "steps of L-BFGS", integer: true, min: 1 },
  },
  train(evaluated, { lambda, steps }) {
    const K = evaluated[0]!.scores.length;
    const d = evaluated[0]!.x.length;
    // One row of d coefficients and an intercept per model.
    const rowsOf = (theta: Float64Array) =>
      Array.from({ length: K }, (_, k) => theta.subarray(k * (d + 1), (k + 1) * (d + 1)));
    const ratings = (theta: readonly Float64Array[], x: Float64Array) =>
      Float64Array.from(theta, (row) => dot(row.subarray(0, d), x) + row[d]!);
    const theta = new Float64Array(K * (d + 1));
    minimize(
      (at, gradient) => {
        const [rows, slopes] = [rowsOf(at), rowsOf(gradient)];
        let loss = 0;
        rows.forEach((row, k) => {
          for (let i = 0; i < d; i++) {
            loss += (lambda * row[i]! ** 2) / 2;
            slopes[k]![i] = lambda * row[i]!;
          }
          slopes[k]![d] = 0;
        });
        for (const { x, scores } of evaluated) {
          const own = pairwiseLoss(ratings(rows, x), scores);
          loss += own.loss;
          slopes.forEach((slope, k) => {
            axpy(own.gradient[k]!, x, slope.subarray(0, d));
            slope[d]! += own.gradient[k]!;
          });
        }
        return loss;
      },
      theta,
      steps,
    );
    const rows = rowsOf(theta);
    return (x) => ratings(rows, x);
  },
});
