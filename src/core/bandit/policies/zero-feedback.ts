import { nearestCategory } from "../categories.ts";
import { fillUnknown } from "../features.ts";
import { argmax, type PolicyKind } from "../policy.ts";
import { stateless } from "./stateless.ts";

/**
 * The model with the best told score in the category of the query; never learns. The
 * protocol of the paper tells every method the scores that also decide regret, so a
 * method that loses to this one has not used what it was told.
 */
export const zeroFeedback: PolicyKind = {
  name: "zero-feedback",
  summary: "the model with the best told score in the nearest category; never learns",
  defaults: {},
  about: {},
  create(pool) {
    const categoryOf = nearestCategory(pool);
    const told = pool.told && fillUnknown(pool.told);
    return stateless(pool, ({ x, candidates, penalty }, random) => {
      const m = categoryOf(x);
      const k = argmax(candidates, (c) => (told?.[c]![m] ?? 0) - (penalty?.[c] ?? 0), random);
      return { pair: [k, k] };
    });
  },
};
