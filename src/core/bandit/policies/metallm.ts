import { normalized } from "../../linalg/linalg.ts";
import { LINUCB_ABOUT, linUcbPolicy } from "../linucb.ts";
import type { PolicyKind } from "../policy.ts";

const DEFAULTS = { alpha: 0.5, lambda: 8, prior: 1, scale: 5 };

/**
 * MetaLLM (Nguyen et al. 2024): LinUCB over the query's embedding, one arm a
 * model, reward a_k(x) - p c_k. Here the answer's correctness a_k is the vote
 * (1 for the winner, 0 for the loser) and the price p c_k the round's penalty.
 *
 * Deviations: a constant is appended to the embedding, without which nothing is
 * learnt of a model as such; its first rewards, on labelled queries, are the told
 * scores.
 */
export const metaLlm: PolicyKind<typeof DEFAULTS> = {
  name: "metallm",
  summary: "LinUCB on the query's embedding: the winner was liked, the loser disliked",
  source: "MetaLLM (Nguyen et al. 2024)",
  defaults: DEFAULTS,
  about: LINUCB_ABOUT,
  create(pool, options) {
    const d = pool.centroids[0]!.length;
    return linUcbPolicy(pool, options, {
      dimension: d + 1,
      of(x) {
        const out = new Float64Array(d + 1);
        out.set(normalized(x));
        out[d] = 1;
        return out;
      },
    });
  },
};
