import type { PolicyKind } from "../policy.ts";

/** Two different models, uniformly. The floor of every comparison. */
export const random: PolicyKind = {
  name: "random",
  summary: "two different models, uniformly",
  defaults: {},
  about: {},
  create: (pool) => ({
    choose({ candidates }, random) {
      const n = candidates.length;
      const first = random.integer(n);
      const second = n > 1 ? (first + 1 + random.integer(n - 1)) % n : first;
      return { pair: [candidates[first]!, candidates[second]!] };
    },
    learn() {},
    snapshot: () => ({ models: pool.models, state: undefined }),
    restore() {},
  }),
};
