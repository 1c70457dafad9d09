import type { PolicyKind } from "../policy.ts";
import { stateless } from "./stateless.ts";

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
