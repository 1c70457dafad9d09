/**
 * A policy of your own, in the same comparison as all others:
 *
 *   joust simulate DATA --policies joust,./examples/mine.ts:patience=30
 *
 * This one counts the wins and losses of each model, whatever the query, and
 * duels the model with the best record against a random one. `choose` gets the
 * query's embedding `x`, so yours can do better. Randomness comes as an argument,
 * so that a seed repeats a run; `snapshot` and `restore` let a gateway stop and
 * go on. The full interface: src/bandit/policy.ts.
 */
import { argmax, type PolicyKind } from "../src/bandit/policy.ts";

const mine: PolicyKind<{ patience: number }> = {
  name: "mine",
  summary: "the best record so far against a random model",
  defaults: { patience: 10 }, // duels for nothing that each model starts with, half of them won
  create(pool, { patience }) {
    let wins = pool.models.map(() => patience / 2);
    let duels = pool.models.map(() => patience);
    return {
      choose({ candidates }, random) {
        const best = argmax(candidates, (k) => wins[k]! / duels[k]!, random);
        return { pair: [best, candidates[random.integer(candidates.length)]!] };
      },
      learn(feedback) {
        if (feedback.kind !== "duel") return;
        const { pair, outcome } = feedback;
        for (const k of pair) duels[k]! += 1;
        if (outcome === "a" || outcome === "b") wins[pair[outcome === "a" ? 0 : 1]]! += 1;
      },
      snapshot: () => ({ models: pool.models, state: structuredClone({ wins, duels }) }),
      restore({ models, state }) {
        const past = state as { wins: number[]; duels: number[] };
        const before = pool.models.map((name) => models.indexOf(name));
        wins = before.map((k) => past.wins[k] ?? patience / 2);
        duels = before.map((k) => past.duels[k] ?? patience);
      },
    };
  },
};

export default mine;
