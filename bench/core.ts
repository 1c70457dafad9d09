import { sigmoid } from "../src/core/bandit/btl.ts";
import { createPolicy } from "../src/core/bandit/options.ts";
import { fgtsCdb } from "../src/core/bandit/policies/fgts-cdb.ts";
import { joust } from "../src/core/bandit/policies/joust.ts";
import type { Policy, PolicyKind, Pool } from "../src/core/bandit/policy.ts";
import { normalized } from "../src/core/linalg/linalg.ts";
import { Random } from "../src/core/random/random.ts";
import type { BenchResult } from "./bench.ts";
import { median } from "./median.ts";

const DIMENSION = 384;

/**
 * Measures the time of a decision and of an update for different lengths of history (the time must
 * not grow) and for different pool sizes.
 */
export async function core(): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  // Pool sizes come first, because memory must be measured before anything large is allocated.
  for (const [K, M, sample] of [
    [50, 30, 500],
    [1000, 30, 50],
  ] as const) {
    const pool = makePool(K, M);
    const before = memory();
    const trained = train(joust, pool, 1e3);
    const bytes = memory() - before;
    record(`joust ${K}x${M}`, compare([trained], sample), figures);
    figures[`joust ${K}x${M} MB`] = bytes / 1e6;
    ratios[`joust ${K}x${M} memory / one dense covariance`] = bytes / (8 * (K * M + 1) ** 2);
  }

  const small = makePool(10, 7);

  const ours = compare(
    [1e3, 1e4, 1e5, 1e6].map((history) => train(joust, small, history)),
    2000,
  );
  record("joust 10x7", ours, figures);
  ratios["joust decision growth 1e3..1e6"] = ours.at(-1)!.decision / ours[0]!.decision;
  ratios["joust update growth 1e3..1e6"] = ours.at(-1)!.update / ours[0]!.update;

  const theirs = compare(
    [1e3, 1e4].map((history) => train(fgtsCdb, small, history)),
    100,
  );
  record("fgts-cdb 10x7", theirs, figures);
  ratios["fgts-cdb decision growth 1e3..1e4"] = theirs.at(-1)!.decision / theirs[0]!.decision;
  const round = ({ decision, update }: Timing) => decision + update;
  ratios["fgts-cdb / joust round at 1e4"] = round(theirs[1]!) / round(ours[1]!);

  return { ratios, figures };
}

/** A policy that has learned from `history` votes. */
interface Trained {
  readonly policy: Policy;
  readonly history: number;
  readonly candidates: readonly number[];
}

interface Timing {
  readonly history: number;
  /** Median microseconds. */
  readonly decision: number;
  readonly update: number;
}

function train(kind: PolicyKind, pool: Pool, history: number): Trained {
  const policy = createPolicy(kind, pool);
  const random = Random.seeded(1);
  const queries = Array.from({ length: 256 }, () => randomVector(random));
  const candidates = pool.models.map((_, k) => k);
  for (let i = 0; i < history; i++) {
    learn(policy, queries[i % queries.length]!, candidates, random);
  }
  return { policy, history, candidates };
}

/** Times the policies alternately, so that disturbances on the machine affect all of them equally. */
function compare(trained: readonly Trained[], sample: number): Timing[] {
  const random = Random.seeded(2);
  const times = trained.map(() => ({ decisions: [] as number[], updates: [] as number[] }));
  for (let i = -sample; i < sample; i++) {
    const x = randomVector(random);
    trained.forEach(({ policy, candidates }, g) => {
      const start = performance.now();
      policy.choose({ x, candidates }, random);
      const middle = performance.now();
      learn(policy, x, candidates, random);
      const end = performance.now();
      if (i < 0) return; // warm-up
      times[g]!.decisions.push(middle - start);
      times[g]!.updates.push(end - middle);
    });
  }
  return trained.map(({ history }, g) => ({
    history,
    decision: 1000 * median(times[g]!.decisions),
    update: 1000 * median(times[g]!.updates),
  }));
}

function learn(
  policy: Policy,
  x: Float64Array,
  candidates: readonly number[],
  random: Random,
): void {
  const a = random.integer(candidates.length);
  const b = (a + 1 + random.integer(candidates.length - 1)) % candidates.length;
  // The model with the smaller index is better; the vote scale is 3.
  const p = sigmoid((3 * (b - a)) / candidates.length);
  const outcome = random.uniform() < p ? "a" : "b";
  policy.learn({ kind: "duel", x, pair: [a, b], outcome }, random);
}

function makePool(K: number, M: number): Pool {
  const random = Random.seeded(3);
  return {
    models: Array.from({ length: K }, (_, k) => `model-${k}`),
    categories: Array.from({ length: M }, (_, m) => `category-${m}`),
    centroids: Array.from({ length: M }, () => randomVector(random)),
    told: Array.from({ length: K }, () => Float64Array.from({ length: M }, () => random.uniform())),
    costs: Array.from({ length: K }, () =>
      Float64Array.from({ length: M }, () => random.uniform()),
    ),
  };
}

function randomVector(random: Random): Float64Array {
  return normalized(Float64Array.from({ length: DIMENSION }, () => random.normal()));
}

function record(name: string, timings: readonly Timing[], figures: Record<string, number>): void {
  for (const { history, decision, update } of timings) {
    figures[`${name} decision us at ${history.toExponential(0)}`] = decision;
    figures[`${name} update us at ${history.toExponential(0)}`] = update;
  }
}

function memory(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
