/** Invented results for tests: regret grows fast at first and slower later, and runs are similar across policies. */
import type { Random } from "../../core/random/random.ts";
import { meanInterval } from "../../core/statistics.ts";
import type { PolicyResult, Result } from "./result.ts";

export interface Sample {
  /** Regret at the last round, by policy. */
  readonly regrets: Readonly<Record<string, number>>;
  readonly rounds?: number;
  readonly runs?: number;
  readonly costs?: boolean;
}

/** Regrets as in a routing benchmark of ten models. */
export const TWENTY: Readonly<Record<string, number>> = {
  joust: 11.4,
  "fgts-cdb": 44,
  random: 107,
  "best-fixed": 39,
  oracle: 0,
  "zero-feedback": 14,
  thompson: 47,
  greedy: 52,
  colstim: 41,
  maxinp: 58,
  "max-pair-ucb": 17,
  vacdb: 49,
  "double-ts": 36,
  eagle: 57,
  "matrix-factorization": 63,
  "sw-bradley-terry": 55,
  "knn-bradley-terry": 51,
  "cluster-bradley-terry": 45,
  mixllm: 71,
  "fgts-cdb:weighting=perf:sd=2": 43,
};

export function sampleResult(sample: Sample, random: Random): Result {
  const { regrets, rounds = 720, runs = 20, costs = true } = sample;
  const hardness = Array.from({ length: runs }, (_, r) => random.split(r).normal());
  const policies = Object.entries(regrets).map(([name, regret]): [string, PolicyResult] => {
    const own = random.split(name);
    const power = regret >= 100 ? 1 : 0.55 + 0.3 * own.uniform();
    const t = Array.from({ length: Math.min(120, rounds) }, (_, i) =>
      Math.round(((i + 1) * rounds) / Math.min(120, rounds)),
    );
    const byRun = hardness.map((common) => {
      const last = regret * (1 + 0.08 * common + 0.06 * own.normal());
      let wobble = 0;
      return t.map((at) => {
        wobble = 0.9 * wobble + 0.01 * regret * own.normal();
        return last * (at / rounds) ** power + wobble * (1 - at / rounds);
      });
    });
    const bands = t.map((_, i) => meanInterval(byRun.map((curve) => curve[i]!)));
    const ends = byRun.flatMap((curve) => curve.slice(-1));
    return [
      name,
      {
        regret: { ...meanInterval(ends), runs: ends },
        curve: {
          t,
          mean: bands.map((band) => band.mean),
          lo: bands.map((band) => band.lo),
          hi: bands.map((band) => band.hi),
        },
        regretPerf: { ...meanInterval(ends), runs: ends },
        scorePerQuery: 1 - Math.min(0.9, Math.abs(regret) / 120),
        costPerQuery: costs ? 0.25 + 1.6 * own.uniform() ** 2 : null,
        agreement: 1 - Math.min(0.9, Math.abs(regret) / 120),
        decisionMicros: { p50: 8 + 30 * own.uniform(), p99: 40 + 200 * own.uniform() },
        updateMicros: { p50: 12 + 60 * own.uniform(), p99: 80 + 400 * own.uniform() },
      },
    ];
  });
  return {
    schema: 1,
    settings: {
      data: "routerbench",
      rounds,
      runs,
      seed: 1,
      told: { kind: "scores" },
      voteScale: 3,
    },
    policies: Object.fromEntries(policies),
  };
}
