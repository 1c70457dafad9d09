import { invalidValue } from "../../errors/joust-error.ts";
import { nearestCategory } from "../categories.ts";
import { fillUnknown } from "../features.ts";
import { argmax, type Hindsight, type Policy, type PolicyKind, type Pool } from "../policy.ts";

/** Creates a policy that does not learn. */
export function stateless(pool: Pool, choose: Policy["choose"]): Policy {
  return {
    choose,
    learn() {},
    snapshot: () => ({ models: pool.models, state: undefined }),
    restore() {},
  };
}

/** Two different models, drawn uniformly: the lowest baseline of every comparison. */
export const random: PolicyKind = {
  name: "random",
  summary: "duel between two different models, drawn uniformly",
  defaults: {},
  about: {},
  create: (pool) =>
    stateless(pool, ({ candidates }, random) => {
      const n = candidates.length;
      const first = random.integer(n);
      const second = n > 1 ? (first + 1 + random.integer(n - 1)) % n : first;
      return { pair: [candidates[first]!, candidates[second]!] };
    }),
};

/** The best model for each query. Its regret is 0 by definition. */
export const oracle: PolicyKind = {
  name: "oracle",
  summary: "the best model for each query, known in advance (simulations only)",
  defaults: {},
  about: {},
  needsHindsight: true,
  create(pool, _options, hindsight) {
    const known = required(hindsight, "oracle");
    return stateless(pool, ({ x, candidates }, random) => {
      const utilities = known.utilities(x);
      const k = argmax(candidates, (c) => utilities[c]!, random);
      return { pair: [k, k] };
    });
  },
};

/** The model with the largest total utility over the stream. */
export const bestFixed: PolicyKind = {
  name: "best-fixed",
  summary: "the best single model for the whole stream, known in advance (simulations only)",
  defaults: {},
  about: {},
  needsHindsight: true,
  create(pool, _options, hindsight) {
    const { bestFixed } = required(hindsight, "best-fixed");
    return stateless(pool, ({ candidates }) => {
      const k = candidates.includes(bestFixed) ? bestFixed : candidates[0]!;
      return { pair: [k, k] };
    });
  },
};

function required(hindsight: Hindsight | undefined, name: string): Hindsight {
  if (hindsight) return hindsight;
  throw invalidValue(`${name} needs the true utilities`, `use ${name} in a simulation only`);
}

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
