import { excludesZero } from "../../core/statistics.ts";
import { decimalsOf, fixed } from "../report/table.ts";
import { plural } from "../report/words.ts";
import type { Result } from "./result.ts";
import {
  bestOf,
  compare,
  isOracle,
  kindOf,
  type Ranked,
  ranked,
  regretOf,
} from "./result-table.ts";

/** With fewer runs, intervals are wide; with fewer rounds, the result says little about longer runs. */
const ENOUGH = { runs: 5, rounds: 30 };

/** One sentence: the best policy, its lead over the second, and whether the lead could be chance. */
export function summaryOf(result: Result): string {
  const [best] = ranked(result);
  const rounds = best?.curve.t.at(-1);
  if (!best || !rounds) return "Nothing was simulated: no policy has a round to show.";
  return `${finding(result, rounds)}${caution(best.regret.runs.length, rounds)}`;
}

function caution(runs: number, rounds: number): string {
  const few = [
    ...(runs < ENOUGH.runs ? [plural(runs, "run")] : []),
    ...(rounds < ENOUGH.rounds ? [plural(rounds, "round")] : []),
  ];
  if (few.length === 0) return "";
  return ` This rests on ${few.join(" of ")} only: take ${ENOUGH.runs} runs of ${ENOUGH.rounds} rounds or more before you conclude anything.`;
}

function finding(result: Result, rounds: number): string {
  const policies = ranked(result);
  const best = bestOf(policies)!;
  const runs = best.regret.runs.length;
  const over = `Over ${runs === 1 ? "one run" : `${runs} runs`} of ${plural(rounds, "round")}`;
  const rivals = policies.filter((policy) => policy !== best && !isOracle(policy.name));
  const { mean, lo, hi } = regretOf(best);
  const decimals = Math.max(1, decimalsOf(policies.map(({ regret }) => regret.mean)));
  const show = (value: number) => fixed(value, decimals);
  const interval = Number.isFinite(hi - lo) ? ` [${show(lo)}, ${show(hi)}]` : "";
  const regret = `${show(mean)}${interval}`;
  const [runnerUp] = rivals;
  if (!runnerUp) return `${over}, ${nameOf(best)} has a mean regret of ${regret}.`;
  const aside = policies.some(({ name }) => isOracle(name)) ? ", the oracle aside" : "";
  const lead = runnerUp.regret.mean - mean;
  if (lead === 0) {
    const equals = rivals.filter((rival) => rival.regret.mean === mean).map(nameOf);
    const others =
      equals.length === 1 ? equals[0] : `${equals.length} others (${equals.join(", ")})`;
    return `${over}, ${nameOf(best)} and ${others} have the same mean regret, ${show(mean)}, the lowest${aside}.`;
  }
  // A lead that rounds to 0 is put into words, because "0.0 less" would read as a tie.
  const less = Number(show(lead)) === 0 ? "hardly less" : `${show(lead)} less`;
  return `${over}, ${nameOf(best)} has the lowest mean regret${aside}: ${regret}, ${less} than the runner-up, ${nameOf(runnerUp)}; ${verdict(runnerUp, best, show)}.`;
}

function verdict(runnerUp: Ranked, best: Ranked, show: (value: number) => string): string {
  const difference = compare(runnerUp, best);
  if (!difference) return "their runs differ in number and cannot be paired";
  if (!Number.isFinite(difference.lo)) return "one run has no interval, so the order may be chance";
  const interval = `[${show(difference.lo)}, ${show(difference.hi)}]`;
  return excludesZero(difference)
    ? `the 95% interval of the paired difference, ${interval}, excludes 0`
    : `the 95% interval of the paired difference, ${interval}, includes 0, so the two cannot be told apart`;
}

function nameOf({ name }: Ranked): string {
  return kindOf(name) === "best-fixed" ? `${name} (one model for all, picked in hindsight)` : name;
}
