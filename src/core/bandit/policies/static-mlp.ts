import { axpy, dot, mean } from "../../linalg/linalg.ts";
import { minimize } from "../../linalg/minimize.ts";
import { Random } from "../../random/random.ts";
import { staticRouter } from "./static-router.ts";

/**
 * A network with one hidden layer from the embedding to the scores of all models,
 * scores = level + B tanh(A x + a) + b, fitted by least squares.
 */
export const staticMlp = staticRouter({
  name: "static-mlp",
  summary: "neural network from embeddings to scores; never learns from votes",
  source: "the MLP router of RouterBench (Hu et al. 2024)",
  defaults: { hidden: 16, lambda: 10, steps: 60 },
  about: {
    hidden: { meaning: "number of hidden units", integer: true, min: 1 },
    lambda: { meaning: "penalty of the squared weights, relative to a query", above: 0 },
    steps: { meaning: "steps of L-BFGS", integer: true, min: 1 },
  },
  train(evaluated, { hidden, lambda, steps }) {
    const level = mean(evaluated.map(({ scores }) => scores));
    const K = level.length;
    const d = evaluated[0]!.x.length;
    const rows = (theta: Float64Array, start: number, count: number, length: number) =>
      Array.from({ length: count }, (_, i) =>
        theta.subarray(start + i * length, start + (i + 1) * length),
      );
    // Rows of the hidden layer, then rows of the output layer; the last number of a row is its intercept.
    const parts = (theta: Float64Array) => ({
      inner: rows(theta, 0, hidden, d + 1),
      outer: rows(theta, hidden * (d + 1), K, hidden + 1),
    });
    const layer = (weights: readonly Float64Array[], input: Float64Array) =>
      Float64Array.from(
        weights,
        (row) => dot(row.subarray(0, input.length), input) + row[input.length]!,
      );
    const random = Random.seeded(1);
    const theta = new Float64Array(hidden * (d + 1) + K * (hidden + 1)).map(
      () => 0.1 * random.normal(),
    );
    minimize(
      (at, gradient) => {
        let loss = 0;
        for (let i = 0; i < at.length; i++) {
          loss += (lambda * at[i]! ** 2) / 2;
          gradient[i] = lambda * at[i]!;
        }
        const [now, slope] = [parts(at), parts(gradient)];
        for (const { x, scores } of evaluated) {
          const h = layer(now.inner, x).map(Math.tanh);
          const errors = layer(now.outer, h).map((value, k) => value + level[k]! - scores[k]!);
          loss += dot(errors, errors) / 2;
          const dh = new Float64Array(hidden);
          errors.forEach((error, k) => {
            axpy(error, h, slope.outer[k]!.subarray(0, hidden));
            slope.outer[k]![hidden]! += error;
            axpy(error, now.outer[k]!.subarray(0, hidden), dh);
          });
          dh.forEach((g, i) => {
            const inner = g * (1 - h[i]! ** 2);
            axpy(inner, x, slope.inner[i]!.subarray(0, d));
            slope.inner[i]![d]! += inner;
          });
        }
        return loss;
      },
      theta,
      steps,
    );
    const fitted = parts(theta);
    return (x) =>
      layer(fitted.outer, layer(fitted.inner, x).map(Math.tanh)).map(
        (value, k) => value + level[k]!,
      );
  },
});
