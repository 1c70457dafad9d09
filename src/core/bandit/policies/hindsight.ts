import { invalidValue } from "../../errors/joust-error.ts";
import { argmax, type Hindsight, type PolicyKind } from "../policy.ts";
import { stateless } from "./stateless.ts";

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
