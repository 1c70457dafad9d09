import { invalidValue } from "../../errors/joust-error.ts";
import { argmax, type Hindsight, type Policy, type PolicyKind, type Pool } from "../policy.ts";

/** The best model of each query, known in advance: regret 0 by definition. */
export const oracle: PolicyKind = {
  name: "oracle",
  summary: "the best model of each query, known in advance",
  defaults: {},
  about: {},
  needsHindsight: true,
  create(pool, _options, hindsight) {
    const known = needed(hindsight, "oracle");
    return fixed(pool, (x, candidates, random) => {
      const utilities = known.utilities(x);
      return argmax(candidates, (k) => utilities[k]!, random);
    });
  },
};

/** The one model with the largest total utility over the stream, chosen in hindsight. */
export const bestFixed: PolicyKind = {
  name: "best-fixed",
  summary: "the one best model over the whole stream, known in hindsight",
  defaults: {},
  about: {},
  needsHindsight: true,
  create(pool, _options, hindsight) {
    const { bestFixed } = needed(hindsight, "best-fixed");
    return fixed(pool, (_x, candidates) =>
      candidates.includes(bestFixed) ? bestFixed : candidates[0]!,
    );
  },
};

function fixed(
  pool: Pool,
  pick: (
    x: Float64Array,
    candidates: readonly number[],
    random: Parameters<Policy["choose"]>[1],
  ) => number,
): Policy {
  return {
    choose({ x, candidates }, random) {
      const k = pick(x, candidates, random);
      return { pair: [k, k] };
    },
    learn() {},
    snapshot: () => ({ models: pool.models, state: undefined }),
    restore() {},
  };
}

function needed(hindsight: Hindsight | undefined, name: string): Hindsight {
  if (hindsight) return hindsight;
  throw invalidValue(`${name} needs the true utilities`, "it runs in a simulation only");
}
