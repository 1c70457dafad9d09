// A policy of your own: the model with the best record so far against a random one, whatever
// the query. `choose` gets the query's embedding `x` too, so yours can do better.
import { argmax, comparisonsOf, type PolicyKind } from "joust";

const mine: PolicyKind<{ patience: number }> = {
  name: "mine",
  summary: "the best record so far against a random model",
  defaults: { patience: 10 }, // duels that each model starts with, half of them won
  create({ models }, { patience }) {
    let records = models.map((name) => ({ name, wins: patience / 2, duels: patience }));
    return {
      choose({ candidates }, random) {
        const best = argmax(candidates, (k) => records[k]!.wins / records[k]!.duels, random);
        return { pair: [best, candidates[random.integer(candidates.length)]!] };
      },
      learn(feedback) {
        for (const { a, b, win } of comparisonsOf(feedback)) {
          records[a]!.wins += win;
          records[b]!.wins += 1 - win;
          for (const k of [a, b]) records[k]!.duels += 1;
        }
      },
      snapshot: () => ({ models, state: structuredClone(records) }),
      restore({ state }) {
        const saved = new Map((state as typeof records).map((record) => [record.name, record]));
        records = records.map((record) => ({ ...(saved.get(record.name) ?? record) }));
      },
    };
  },
};

export default mine;
