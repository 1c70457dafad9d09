import { nearestCategory } from "../categories.ts";
import { fillUnknown } from "../features.ts";
import { argmax, type PolicyKind } from "../policy.ts";

/**
 * Nearest category centroid, then the category's best told model; never learns.
 * The paper's protocol tells every method the scores that also decide regret,
 * so whatever loses to this has not used what it was told.
 */
export const zeroFeedback: PolicyKind = {
  name: "zero-feedback",
  summary: "nearest category, its best told model; never learns",
  defaults: {},
  about: {},
  create(pool) {
    const categoryOf = nearestCategory(pool);
    const told = pool.told && fillUnknown(pool.told);
    return {
      choose({ x, candidates, penalty }, random) {
        const m = categoryOf(x);
        const k = argmax(candidates, (c) => (told?.[c]![m] ?? 0) - (penalty?.[c] ?? 0), random);
        return { pair: [k, k] };
      },
      learn() {},
      snapshot: () => ({ models: pool.models, state: undefined }),
      restore() {},
    };
  },
};
