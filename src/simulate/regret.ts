import type { PolicyResult } from "./result.ts";
import { curveRounds, type Run } from "./run.ts";
import { mean, meanInterval } from "./statistics.ts";

/** The runs of one policy as the figures that are reported. */
export function summarize(runs: readonly Run[], rounds: number): PolicyResult {
  const t = curveRounds(rounds);
  const bands = t.map((_, i) => meanInterval(runs.map((run) => run.curve[i]!)));
  const last = runs.map((run) => run.curve.at(-1)!);
  const costs = runs.map((run) => run.costPerQuery).filter((cost) => cost !== null);
  return {
    regret: { ...meanInterval(last), runs: last },
    curve: {
      t,
      mean: bands.map((band) => band.mean),
      lo: bands.map((band) => band.lo),
      hi: bands.map((band) => band.hi),
    },
    costPerQuery: costs.length > 0 ? mean(costs) : null,
    agreement: mean(runs.map((run) => run.agreement)),
    decisionMicros: meanMicros(runs.map((run) => run.decisionMicros)),
    updateMicros: meanMicros(runs.map((run) => run.updateMicros)),
  };
}

function meanMicros(values: readonly { p50: number; p99: number }[]): { p50: number; p99: number } {
  return { p50: mean(values.map((v) => v.p50)), p99: mean(values.map((v) => v.p99)) };
}
