import { LINUCB_ABOUT, linUcbPolicy } from "../linucb.ts";
import type { PolicyKind } from "../policy.ts";

const DEFAULTS = { alpha: 0.5, lambda: 8, prior: 1, scale: 5 };

/**
 * MetaLLM (Nguyen et al. 2024): LinUCB on the query's embedding with one arm per model
 * and reward a_k(x) - p c_k. Here the correctness a_k of the answer is the vote (1 for
 * the winner, 0 for the loser), and the price p c_k is the penalty of the round.
 *
 * Deviations: a constant is appended to the embedding, without which the overall quality
 * of a model could not be learned; the told scores replace the paper's initial rewards
 * on labelled queries.
 */
export const metaLlm: PolicyKind<typeof DEFAULTS> = {
  name: "metallm",
  summary: "LinUCB on the query's embedding, with reward 1 for the winner and 0 for the loser",
  source: "MetaLLM (Nguyen et al. 2024)",
  defaults: DEFAULTS,
  about: LINUCB_ABOUT,
  create: (pool, options) => linUcbPolicy(pool, options, () => Float64Array.of(1)),
};
