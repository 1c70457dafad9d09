import { mean, meanInterval } from "../../core/statistics.ts";
import type { PolicyResult } from "./result.ts";
import { curveRounds, type Run } from "./run.ts";

/** Summarizes the runs of one policy. */
export function summarize(runs: readonly Run[], rounds: number): PolicyResult {
  const t = curveRounds(rounds);
  const bands = t.map((_, i) => band(runs.map((run) => run.curve[i]!)));
  const last = runs.map((run) => run.curve.at(-1)!);
  const lastPerf = runs.map((run) => run.regretPerf);
  const costs = runs.map((run) => run.costPerQuery).filter((cost) => cost !== null);
  return {
    regret: { ...band(last), runs: last },
    regretPerf: { ...band(lastPerf), runs: lastPerf },
    curve: {
      t,
      mean: bands.map(({ mean }) => mean),
      lo: bands.map(({ lo }) => lo),
      hi: bands.map(({ hi }) => hi),
    },
    scorePerQuery: mean(runs.map((run) => run.scorePerQuery)),
    costPerQuery: costs.length > 0 ? mean(costs) : null,
    agreement: mean(runs.map((run) => run.agreement)),
    decisionMicros: meanMicros(runs.map((run) => run.decisionMicros)),
    updateMicros: meanMicros(runs.map((run) => run.updateMicros)),
  };
}

/** JSON has no NaN, so the bounds of one run are null. */
function band(values: readonly number[]): { mean: number; lo: number | null; hi: number | null } {
  const { mean, lo, hi } = meanInterval(values);
  return Number.isNaN(lo) ? { mean, lo: null, hi: null } : { mean, lo, hi };
}

function meanMicros(values: readonly { p50: number; p99: number }[]): { p50: number; p99: number } {
  return { p50: mean(values.map((v) => v.p50)), p99: mean(values.map((v) => v.p99)) };
}
