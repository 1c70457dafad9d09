/** One line on a terminal that says how far a simulation is; nothing in a pipe. */
import { isOracle } from "../report/result-table.ts";
import { decimalsOf, fixed } from "../report/table.ts";
import { completeRuns } from "../simulate/simulate.ts";
import { mean } from "../simulate/statistics.ts";
import type { Progress } from "../simulate/sweep.ts";

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** `show` draws over what was drawn before, `clear` takes it away. */
export function progressBar(terminal: Terminal, policies: readonly string[]) {
  if (!terminal.isTTY) return undefined;
  return {
    show(progress: Progress): void {
      const line = progressLine(progress, policies);
      terminal.write(`${ERASE}${line.slice(0, (terminal.columns || 80) - 1)}`);
    },
    clear: () => void terminal.write(ERASE),
  };
}

const ERASE = "\r\x1b[2K";
const BAR = 20;

export function progressLine(progress: Progress, policies: readonly string[]): string {
  const { done, total, millisecondsLeft } = progress;
  const filled = Math.floor((BAR * done) / total);
  const left = millisecondsLeft === undefined ? "" : `${duration(millisecondsLeft)} left`;
  const bar = `[${"=".repeat(filled)}${" ".repeat(BAR - filled)}]`;
  return [`${bar} ${done}/${total} runs`, left, leader(progress, policies)]
    .filter((part) => part !== "")
    .join(", ");
}

/** The smallest mean regret over the runs that all have finished; the oracle is out of competition. */
function leader({ runs }: Progress, policies: readonly string[]): string {
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

export function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
