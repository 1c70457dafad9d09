import { categoryMembership } from "../src/core/bandit/features.ts";
import { createPolicy } from "../src/core/bandit/options.ts";
import { joust } from "../src/core/bandit/policies/joust.ts";
import { reportOf } from "../src/core/bandit/policies/joust-report.ts";
import type { Policy } from "../src/core/bandit/policy.ts";
import { Random } from "../src/core/random/random.ts";
import { ActivePairs } from "../src/gateway/evaluation/active-pairs.ts";
import type { PairChooser, PromptPair } from "../src/gateway/evaluation/compare-answers.ts";
import { RandomPairs } from "../src/gateway/evaluation/random-pairs.ts";
import { byCategory, createWorld, type World } from "../src/gateway/insight/worlds.fixture.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";

const RUNS = 40;
const PAIRS = [0, 20, 40, 80, 160, 320, 640];
/** Comparisons that are made at the same time. */
const BATCH = 8;

const BASE: World = { kind: "table", models: 10, voteScale: 10, ties: 1, told: "none" };
const WORLDS: Readonly<Record<string, World>> = {
  "table, judge scale 10": BASE,
  "table, judge scale 3": { ...BASE, voteScale: 3 },
  sandbox: { ...BASE, kind: "sandbox" },
};

/**
 * Regret per query of a router that has learned from judged pairs: random ones, and those of
 * `evaluate --active`. Names select worlds; `--rounds` is the number of runs. The rule was tuned
 * with the seeds from 7000 on.
 */
export async function active(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  const runs = flags.rounds ?? RUNS;
  for (const [name, world] of Object.entries(WORLDS)) {
    if (names.length > 0 && !names.includes(name)) continue;
    for (const way of ["random", "active"] as const) {
      const curves = Array.from({ length: runs }, (_, i) => curveOf(world, way, 9000 + i));
      for (const [i, pairs] of PAIRS.entries()) {
        const values = curves.map((curve) => curve[i]!);
        const mean = values.reduce((sum, value) => sum + value / runs, 0);
        const spread = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
        ratios[`${name}, ${way}, ${pairs} pairs`] = mean;
        ratios[`${name}, ${way}, ${pairs} pairs, 95% half-width`] =
          1.96 * Math.sqrt(spread / (runs - 1) / runs);
      }
    }
  }
  return { ratios, figures: {} };
}

/** Regret of the learned choices per query at each number of pairs. */
function curveOf(world: World, way: "random" | "active", seed: number): number[] {
  const random = Random.seeded(seed);
  const { pool, truth, vote } = createWorld(world, random.split("world"));
  const policy = createPolicy(joust, pool);
  const prompts = byCategory.flatMap((vectors, m) => vectors.map((x) => ({ x, m })));
  const membership = categoryMembership(pool.centroids);
  const embeddings = prompts.map(({ x }) => x);
  const memberships = embeddings.map((x) => membership(x));
  const K = pool.models.length;
  const own = random.split(way);
  const chooser: PairChooser =
    way === "active"
      ? new ActivePairs(policy, { embeddings, memberships }, K, own)
      : learning(new RandomPairs(prompts.length, K, own), policy, embeddings, own);
  const votes = random.split("votes");
  const curve: number[] = [];
  for (let done = 0; ; ) {
    if (PAIRS.includes(done)) curve.push(regretOf(policy, truth));
    if (curve.length === PAIRS.length) return curve;
    const rest = PAIRS.find((pairs) => pairs > done)! - done;
    const batch = Array.from({ length: Math.min(BATCH, rest) }, () => chooser.next()!);
    for (const pair of batch) {
      const { x, m } = prompts[pair.prompt]!;
      chooser.learn(pair, vote([pair.a, pair.b], m, x, votes));
    }
    done += batch.length;
  }
}

function learning(
  pairs: RandomPairs,
  policy: Policy,
  embeddings: readonly Float64Array[],
  random: Random,
): PairChooser {
  return {
    next: () => pairs.next(),
    learn: ({ prompt, a, b }: PromptPair, outcome) =>
      policy.learn({ kind: "duel", x: embeddings[prompt]!, pair: [a, b], outcome }, random),
  };
}

function regretOf(policy: Policy, truth: readonly Float64Array[]): number {
  const report = reportOf(policy)!;
  const M = truth[0]!.length;
  let regret = 0;
  for (let m = 0; m < M; m++) {
    const { mean } = report.onCategory(m);
    const chosen = mean.indexOf(Math.max(...mean));
    regret += (Math.max(...truth.map((row) => row[m]!)) - truth[chosen]![m]!) / M;
  }
  return regret;
}
