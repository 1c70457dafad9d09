import { toldAt } from "../categories.ts";
import {
  type About,
  argmax,
  type EvaluatedQuery,
  type Options,
  type PolicyKind,
} from "../policy.ts";
import { stateless } from "./baselines.ts";

/** Predicts the score of every model on a query. */
export type Predict = (x: Float64Array) => Float64Array;

/**
 * Creates a kind of static router: it is trained once on the evaluated queries of the pool, answers
 * each request with the model of the largest predicted score, and never learns from votes. Without
 * evaluated queries it uses the told scores of the categories.
 */
export function staticRouter<O extends Options>(about: {
  readonly name: string;
  readonly summary: string;
  readonly source: string;
  readonly defaults: O;
  readonly about: About<O>;
  train(evaluated: readonly EvaluatedQuery[], options: O): Predict;
}): PolicyKind<O> {
  const { train, ...kind } = about;
  return {
    ...kind,
    create(pool, options) {
      const { evaluated = [] } = pool;
      const predict = evaluated.length > 0 ? train(evaluated, options) : toldAt(pool);
      return stateless(pool, ({ x, candidates, penalty }, random) => {
        const values = predict(x);
        const k = argmax(candidates, (c) => values[c]! - (penalty?.[c] ?? 0), random);
        return { pair: [k, k], values };
      });
    },
  };
}
