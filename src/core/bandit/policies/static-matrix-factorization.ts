import { axpy, dot } from "../../linalg/linalg.ts";
import { minimize } from "../../linalg/minimize.ts";
import { Random } from "../../random/random.ts";
import { pairwiseLoss } from "../pairwise-loss.ts";
import { staticRouter } from "./static-router.ts";

/**
 * RouteLLM's matrix factorisation: the rating of model k is b_k + v_k . (P x), with a vector of `rank`
 * numbers per model and a projection P that all models share, fitted to all pairs of scores.
 */
export const staticMatrixFactorization = staticRouter({
  name: "static-matrix-factorization",
  summary: "low-rank ratings of models on embeddings; never learns from votes",
  source: "RouteLLM (Ong et al. 2024), trained on scores",
  defaults: { rank: 8, lambda: 1, steps: 60 },
  about: {
    rank: { meaning: "length of the vector of a model", integer: true, min: 1 },
    lambda: { meaning: "penalty of the squared coefficients, relative to a query", above: 0 },
    steps: { meaning: "steps of L-BFGS", integer: true, min: 1 },
  },
  train(evaluated, { rank, lambda, steps }) {
    const K = evaluated[0]!.scores.length;
    const d = evaluated[0]!.x.length;
    const parts = (theta: Float64Array) => ({
      biases: theta.subarray(0, K),
      models: slices(theta, K, K, rank),
      projection: slices(theta, K + K * rank, rank, d),
    });
    const project = ({ projection }: Parts, x: Float64Array) =>
      Float64Array.from(projection, (row) => dot(row, x));
    const ratings = ({ biases, models }: Parts, z: Float64Array) =>
      biases.map((bias, k) => bias + dot(models[k]!, z));
    const random = Random.seeded(1);
    // Around 0 both factors have no gradient, so they start at random.
    const theta = new Float64Array(K + rank * (K + d)).map((_, i) =>
      i < K ? 0 : 0.1 * random.normal(),
    );
    minimize(
      (at, gradient) => {
        let loss = 0;
        for (let i = 0; i < at.length; i++) {
          const penalty = i < K ? 0 : lambda;
          loss += (penalty * at[i]! ** 2) / 2;
          gradient[i] = penalty * at[i]!;
        }
        const [now, slope] = [parts(at), parts(gradient)];
        for (const { x, scores } of evaluated) {
          const z = project(now, x);
          const own = pairwiseLoss(ratings(now, z), scores);
          loss += own.loss;
          const dz = new Float64Array(rank);
          own.gradient.forEach((g, k) => {
            slope.biases[k]! += g;
            axpy(g, z, slope.models[k]!);
            axpy(g, now.models[k]!, dz);
          });
          dz.forEach((g, r) => {
            axpy(g, x, slope.projection[r]!);
          });
        }
        return loss;
      },
      theta,
      steps,
    );
    const fitted = parts(theta);
    return (x) => ratings(fitted, project(fitted, x));
  },
});

interface Parts {
  readonly biases: Float64Array;
  readonly models: readonly Float64Array[];
  readonly projection: readonly Float64Array[];
}

/** `count` views of `length` numbers each, from `start` on. */
function slices(all: Float64Array, start: number, count: number, length: number): Float64Array[] {
  return Array.from({ length: count }, (_, i) =>
    all.subarray(start + i * length, start + (i + 1) * length),
  );
}
