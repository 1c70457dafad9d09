/** The status line of a simulation. */

import { decimalsOf, fixed } from "../../lab/report/table.ts";
import { isOracle } from "../../lab/simulate/result-table.ts";
import type { RunsProgress } from "../../lab/simulate/runs.ts";
import { completeRuns } from "../../lab/simulate/simulate.ts";
import { mean } from "../../lab/statistics.ts";
import { drawBar, duration, statusLine, type Terminal } from "../shared/status-line.ts";

/** Shows the progress on a terminal; undefined for other output. */
export function progressBar(terminal: Terminal, policies: readonly string[]) {
  const line = statusLine(terminal);
  return (
    line && {
      show: (progress: RunsProgress) => line.show(progressLine(progress, policies)),
      clear: line.clear,
    }
  );
}

export function progressLine(progress: RunsProgress, policies: readonly string[]): string {
  const { done, total, millisecondsLeft } = progress;
  const left = millisecondsLeft === undefined ? "" : `${duration(millisecondsLeft)} left`;
  return [`${drawBar(done, total)} ${done}/${total} runs`, left, leader(progress, policies)]
    .filter((part) => part !== "")
    .join(", ");
}

/** The policy with the smallest mean regret over the runs that all policies have finished, except the oracle. */
function leader({ runs }: RunsProgress, policies: readonly string[]): string {
  const complete = completeRuns(runs);
  const means = policies.flatMap((name, p) =>
    isOracle(name) || complete.length === 0
      ? []
      : [{ name, regret: mean(complete.map((run) => runs[p]![run]!.curve.at(-1)!)) }],
  );
  const [best] = means.sort((a, b) => a.regret - b.regret);
  if (!best) return "";
  const decimals = Math.max(1, decimalsOf(means.map(({ regret }) => regret)));
  return `best so far ${best.name} (regret ${fixed(best.regret, decimals)})`;
}
