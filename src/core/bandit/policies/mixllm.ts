import { normalized } from "../../linalg/linalg.ts";
import { categoryMembership } from "../features.ts";
import { LINUCB_ABOUT, linUcbPolicy } from "../linucb.ts";
import type { PolicyKind } from "../policy.ts";

const DEFAULTS = { alpha: 0.25, lambda: 4, prior: 1, scale: 5 };

/**
 * MixLLM (Wang et al. 2025): each model has a predictor of its answer's quality
 * from the tag-enhanced embedding e of the query, and
 *
 *   score_k = quality_k(e) - cost_k + alpha sqrt(e A_k^-1 e) - latency penalty_k.
 *
 * Here the tags are the memberships of the pool's categories, e = [x; w(x)]; the
 * cost and latency terms are the round's penalty; the predictors are linear, and
 * the told scores stand in for their offline training on 30% of the queries.
 *
 * Deviation: like and dislike train them by ridge regression. The paper's policy
 * gradient, theta_j += eta R (1{j = k} - pi_j) e with R = +-1, adds eta e to the
 * winner and subtracts it from the loser whatever had been predicted, so over
 * duels it never settles.
 */
export const mixLlm: PolicyKind<typeof DEFAULTS> = {
  name: "mixllm",
  summary: "LinUCB on the embedding and its categories: winner liked, loser disliked",
  source: "MixLLM (Wang et al. 2025)",
  defaults: DEFAULTS,
  about: LINUCB_ABOUT,
  create(pool, options) {
    const d = pool.centroids[0]!.length;
    const tags = categoryMembership(pool.centroids);
    const dimension = d + pool.centroids.length;
    return linUcbPolicy(pool, options, {
      dimension,
      of(x) {
        const out = new Float64Array(dimension);
        out.set(normalized(x));
        out.set(tags(x), d);
        return out;
      },
    });
  },
};
