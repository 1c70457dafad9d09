import type { Options, PolicyKind } from "../../../core/bandit/policy.ts";
import type { Random } from "../../../core/random/random.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { Context } from "../../jobs/job.ts";
import { createEnvironment } from "../../simulate/environment.ts";
import { curveRounds, runPolicy } from "../../simulate/run.ts";
import type { Settings } from "../../simulate/settings.ts";
import type { RunValue } from "./specs.ts";

export interface Measured {
  readonly dataset: Dataset;
  readonly embeddings: readonly Float64Array[];
  readonly kind: PolicyKind;
  readonly options: Options;
  readonly settings: Settings;
  /** Regret is also measured under score - price * cost. */
  readonly price: number;
}

/** Runs a policy as `joust simulate` does, and returns the measurements that the experiments show. */
export function measure(measured: Measured, random: Random, { check }: Context): RunValue {
  const { dataset, embeddings, kind, settings, price } = measured;
  const { rounds } = settings;
  const environment = createEnvironment(dataset, embeddings, settings, random.split("environment"));
  const contender = { kind, options: { ...kind.defaults, ...measured.options } };
  const t = curveRounds(rounds);
  const choices = dataset.categories.map(() => dataset.models.map(() => 0));
  const priced: number[] = [];
  let pricedRegret = 0;
  const run = runPolicy(
    environment,
    contender,
    settings,
    random.split("policy"),
    (round, { query, scores, costs }, pair) => {
      if (round % 32 === 0) check(round / rounds);
      const worth = (k: number) => scores[k]! - price * (costs?.[k] ?? 0);
      let best = -Infinity;
      for (let k = 0; k < scores.length; k++) best = Math.max(best, worth(k));
      pricedRegret += best - (worth(pair[0]) + worth(pair[1])) / 2;
      if (round === t[priced.length]) priced.push(pricedRegret);
      const counts = choices[query.category];
      if (counts && round > (2 / 3) * rounds) for (const k of pair) counts[k]! += 0.5;
    },
  );
  return {
    t,
    regret: run.curve,
    priced,
    score: run.scorePerQuery,
    cost: run.costPerQuery,
    agreement: run.agreement,
    choices,
  };
}
