import { sigmoid } from "../../../core/bandit/btl.ts";
import type { PolicyKind } from "../../../core/bandit/policy.ts";

/**
 * A kind of policy that learns from likes of single answers instead of votes on duels. In
 * each round only the first model of its pair answers, and the answer is liked with
 *
 *   P(like) = sigmoid(s (u_k - mean_j u_j)),
 *
 * the probability that it wins a duel against an average answer to the same query, with the
 * vote scale s of the duels. So there is one label per round, as for a duelling policy, and it
 * is as noisy as a vote. The policy learns it at once; the simulator's votes never reach it,
 * because there is no duel.
 */
export function learningFromLikes(kind: PolicyKind, voteScale: number): PolicyKind {
  return {
    ...kind,
    needsHindsight: true,
    create(pool, options, hindsight) {
      const policy = kind.create(pool, options, hindsight);
      return {
        choose(round, random) {
          const { pair, ...rest } = policy.choose(round, random);
          const [model] = pair;
          const utilities = hindsight!.utilities(round.x);
          const average = utilities.reduce((sum, u) => sum + u, 0) / utilities.length;
          const p = sigmoid(voteScale * (utilities[model]! - average));
          const rating = random.split("like").uniform() < p ? 1 : -1;
          policy.learn({ kind: "rating", x: round.x, model, rating }, random.split("learn"));
          return { ...rest, pair: [model, model] };
        },
        learn() {},
        snapshot: () => policy.snapshot(),
        restore: (snapshot) => policy.restore(snapshot),
      };
    },
  };
}
