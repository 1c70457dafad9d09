import { readFile, writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Options } from "../src/core/bandit/policy.ts";
import { invalidValue } from "../src/core/errors/joust-error.ts";
import { Random } from "../src/core/random/random.ts";
import { mean } from "../src/core/statistics.ts";
import type { BenchResult } from "./bench.ts";
import { runCell } from "./cell-runs.ts";
import { openDatasets, settingsOf, TOLD_KINDS } from "./datasets.ts";
import { CONTENDERS, type Contender, specOf } from "./policy-contenders.ts";

/** Configurations tried for each policy on each data set, its defaults among them. */
export const BUDGET = 8;
const ROUNDS = 400;
const RUNS = 3;
/** Seed of the tuning runs, which differs from that of the reported runs. */
const SEED = 20_260_101;

/**
 * Finds the best of BUDGET configurations of each policy on each data set, by the regret relative to
 * the random policy at vote scale 3, averaged over exact, noisy and permuted told scores. Writes
 * bench/tuned.json. `bench policies` reports each data set with the options tuned on the other one.
 */
export async function tune(): Promise<BenchResult> {
  const tuned: Record<string, Record<string, Options>> = {};
  const figures: Record<string, number> = {};
  for (const dataset of await openDatasets()) {
    const trials = CONTENDERS.flatMap((contender) =>
      configurations(contender).map((options) => ({ contender, options })),
    );
    const scores = trials.map(() => 0);
    for (const told of TOLD_KINDS) {
      const cell = { voteScale: 3, told };
      const settings = settingsOf(dataset, cell, { rounds: ROUNDS, runs: RUNS, seed: SEED });
      const specs = trials.map(({ contender, options }) => specOf(contender, options));
      const runs = await runCell(`tune/${dataset.name}-${told}`, dataset, settings, specs);
      const regrets = runs.map((row) => mean(row.map((run) => run.curve.at(-1)!)));
      regrets.forEach((regret, i) => {
        scores[i]! += regret / regrets[0]! / TOLD_KINDS.length;
      });
    }
    const chosen: Record<string, Options> = {};
    for (const { name } of CONTENDERS) {
      const own = [...trials.keys()].filter((i) => trials[i]!.contender.name === name);
      const best = own.reduce((a, b) => (scores[b]! < scores[a]! ? b : a));
      chosen[name] = trials[best]!.options;
      figures[`${dataset.name} ${name} regret / random`] = scores[best]!;
    }
    tuned[dataset.name] = chosen;
  }
  await writeFile(TUNED, `${JSON.stringify(tuned, undefined, 2)}\n`);
  return { ratios: {}, figures };
}

const TUNED = resolve(import.meta.dirname, "tuned.json");

/** Tuned options by the data set on which they were found and by policy. */
export type Tuned = Readonly<Record<string, Readonly<Record<string, Options>>>>;

export async function readTuned(): Promise<Tuned> {
  const text = await readFile(TUNED, "utf8").catch(() => {
    throw invalidValue(`no ${basename(TUNED)}`, "run `npm run bench -- tune` first");
  });
  return JSON.parse(text);
}

/** The defaults and random draws from the grid without repetition. */
function configurations({ name, grid }: Contender): Options[] {
  const keys = Object.keys(grid);
  const total = keys.reduce((product, key) => product * grid[key]!.length, 1);
  const random = Random.seeded(SEED).split(name);
  const seen = new Map<string, Options>([["{}", {}]]);
  while (seen.size < Math.min(BUDGET, keys.length > 0 ? total : 1)) {
    const options = Object.fromEntries(
      keys.map((key) => [key, grid[key]![random.integer(grid[key]!.length)]!]),
    );
    seen.set(JSON.stringify(options), options);
  }
  return [...seen.values()];
}
