import { categoryMembership } from "../features.ts";
import { LINUCB_ABOUT, linUcbPolicy } from "../linucb.ts";
import type { PolicyKind } from "../policy.ts";

const DEFAULTS = { alpha: 0.25, lambda: 4, prior: 1, scale: 5 };

/**
 * MixLLM (Wang et al. 2025): each model has a predictor of the quality of its answer
 * from the tag-enhanced embedding e of the query, and
 *
 *   score_k = quality_k(e) - cost_k + alpha sqrt(e A_k^-1 e) - latency penalty_k.
 *
 * Here the tags are the memberships in the categories, e = [x; w(x)]; the terms of cost
 * and latency are the penalty of the round; the predictors are linear, and the told
 * scores replace their offline training on 30% of the queries.
 *
 * Deviation: the predictors are trained by ridge regression on likes and dislikes. The
 * paper's policy gradient, theta_j += eta R (1{j = k} - pi_j) e with R = +-1, adds eta e
 * to the winner and subtracts it from the loser whatever was predicted, so on duels it
 * does not converge.
 */
export const mixLlm: PolicyKind<typeof DEFAULTS> = {
  name: "mixllm",
  summary: "LinUCB on embedding and categories, with reward 1 for the winner and 0 for the loser",
  source: "MixLLM (Wang et al. 2025)",
  defaults: DEFAULTS,
  about: LINUCB_ABOUT,
  create: (pool, options) => linUcbPolicy(pool, options, categoryMembership(pool.centroids)),
};
