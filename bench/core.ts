import { fgtsCdb } from "../src/bandit/policies/fgts-cdb.ts";
import { joust } from "../src/bandit/policies/joust.ts";
import type { Policy, PolicyKind, Pool } from "../src/bandit/policy.ts";
import { normalized } from "../src/linalg/linalg.ts";
import { Random } from "../src/random/random.ts";
import type { BenchResult } from "./main.ts";

const DIMENSION = 384;
/** Rounds timed at each size. */
const SAMPLE = 2000;

/**
 * How long a decision and an update take, and what they depend on: history
 * (they must not grow), and the size of the pool.
 */
export async function core(): Promise<BenchResult> {
  const ratios: Record<string, number> = {};
  const figures: Record<string, number> = {};
  const small = makePool(10, 7);

  const ours = grow(joust, small, [1e3, 1e4, 1e5, 1e6], SAMPLE);
  record("joust 10x7", ours, figures);
  ratios["joust decision growth 1e3..1e6"] = ours.at(-1)!.decision / ours[0]!.decision;
  ratios["joust update growth 1e3..1e6"] = ours.at(-1)!.update / ours[0]!.update;

  const theirs = grow(fgtsCdb, small, [1e3, 1e4], 100);
  record("fgts-cdb 10x7", theirs, figures);
  ratios["fgts-cdb decision growth 1e3..1e4"] = theirs.at(-1)!.decision / theirs[0]!.decision;
  const round = ({ decision, update }: Timing) => decision + update;
  ratios["fgts-cdb / joust round at 1e4"] = round(theirs[1]!) / round(ours[1]!);

  for (const [K, M, sample] of [
    [50, 30, 500],
    [1000, 30, 50],
  ] as const) {
    const before = memory();
    const timing = grow(joust, makePool(K, M), [1e3], sample);
    record(`joust ${K}x${M}`, timing, figures);
    const dense = 8 * (K * M + 1) ** 2;
    figures[`joust ${K}x${M} MB`] = (timing[0]!.held - before) / 1e6;
    ratios[`joust ${K}x${M} memory / one dense covariance`] = (timing[0]!.held - before) / dense;
  }
  return { ratios, figures };
}

interface Timing {
  readonly history: number;
  /** Median microseconds. */
  readonly decision: number;
  readonly update: number;
  readonly held: number;
}

/** Feeds random votes and times `sample` rounds whenever the history reaches one of `sizes`. */
function grow(kind: PolicyKind, pool: Pool, sizes: readonly number[], sample: number): Timing[] {
  const policy = kind.create(pool, kind.defaults);
  const random = Random.seeded(1);
  const queries = Array.from({ length: 256 }, () => randomVector(random));
  const candidates = pool.models.map((_, k) => k);
  warmUp(kind.create(pool, kind.defaults), queries, candidates, 4 * sample);
  const timings: Timing[] = [];
  let history = 0;
  for (const size of sizes) {
    for (; history < size - sample; history++) learn(policy, queries, candidates, random);
    const decisions: number[] = [];
    const updates: number[] = [];
    for (let i = 0; i < sample; i++, history++) {
      // A fresh vector, as every request brings one.
      const x = queries[i % queries.length]!.slice();
      const start = performance.now();
      policy.choose({ x, candidates }, random);
      const middle = performance.now();
      learnFrom(policy, x, candidates, random);
      updates.push(performance.now() - middle);
      decisions.push(middle - start);
    }
    timings.push({
      history: size,
      decision: median(decisions),
      update: median(updates),
      held: memory(),
    });
  }
  policy.snapshot();
  return timings;
}

/** Another policy of the kind first, so that the compiler has settled before anything is timed. */
function warmUp(
  policy: Policy,
  queries: readonly Float64Array[],
  candidates: readonly number[],
  rounds: number,
): void {
  const random = Random.seeded(2);
  for (let i = 0; i < rounds; i++) {
    const x = queries[i % queries.length]!.slice();
    policy.choose({ x, candidates }, random);
    learnFrom(policy, x, candidates, random);
  }
}

function learn(
  policy: Policy,
  queries: readonly Float64Array[],
  candidates: readonly number[],
  random: Random,
): void {
  learnFrom(policy, queries[random.integer(queries.length)]!, candidates, random);
}

function learnFrom(
  policy: Policy,
  x: Float64Array,
  candidates: readonly number[],
  random: Random,
): void {
  const a = random.integer(candidates.length);
  const b = (a + 1 + random.integer(candidates.length - 1)) % candidates.length;
  const outcome = random.uniform() < 0.5 ? "a" : "b";
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

function median(milliseconds: number[]): number {
  const sorted = milliseconds.sort((a, b) => a - b);
  return 1000 * sorted[Math.floor(sorted.length / 2)]!;
}
