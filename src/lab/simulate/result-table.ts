/** A result as tables: one row per policy, and one row per pair of policies. */

import {
  excludesZero,
  holm,
  type Interval,
  type PairedDifference,
  pairedDifference,
} from "../../core/statistics.ts";
import { type CellColumn, type Table, tableOf } from "../report/table.ts";
import type { PolicyResult, Result } from "./result.ts";

export interface Ranked extends PolicyResult {
  readonly name: string;
}

/** The policies sorted by mean regret; those without one come last. */
export function ranked(result: Result): Ranked[] {
  return Object.entries(result.policies)
    .map(([name, policy]) => ({ name, ...policy }))
    .sort((a, b) => rankOf(a) - rankOf(b) || 0);
}

/** The best policy, not counting the oracle, which exists only in simulations. */
export function bestOf(policies: readonly Ranked[]): Ranked | undefined {
  return policies.find(({ name }) => !isOracle(name)) ?? policies[0];
}

export function isOracle(name: string): boolean {
  return kindOf(name) === "oracle";
}

/** `fgts-cdb` of `fgts-cdb:weighting=perf:sd=2`. */
export function kindOf(name: string): string {
  return name.split(":", 1)[0]!;
}

/** Regret of a minus regret of b, run by run; null if their runs cannot be paired. */
export function compare(a: PolicyResult, b: PolicyResult): PairedDifference | null {
  const [left, right] = [a.regret.runs, b.regret.runs];
  return left.length === right.length && left.length > 0 ? pairedDifference(left, right) : null;
}

/** The mean with its interval. One run has no interval, whatever the file says. */
export function regretOf({ regret }: PolicyResult): Interval {
  return intervalOf(regret);
}

function intervalOf({ mean, lo, hi, runs }: PolicyResult["regret"]): Interval {
  return runs.length < 2 || lo === null || hi === null
    ? { mean, lo: Number.NaN, hi: Number.NaN }
    : { mean, lo, hi };
}

function hasCosts(policies: readonly PolicyResult[]): boolean {
  return policies.some(({ costPerQuery }) => Number.isFinite(costPerQuery));
}

export function isPriced(policies: readonly PolicyResult[]): boolean {
  return policies.some(({ regret, regretPerf }) => regret.mean !== regretPerf.mean);
}

/** The most important columns come first, because a narrow terminal drops the last. Times are optional. */
export function resultTable(result: Result, times = true): Table {
  const policies = ranked(result);
  const best = bestOf(policies);
  const columns: readonly CellColumn<Ranked>[] = [
    { key: "policy", title: "Policy", kind: "text", cell: ({ name }) => name },
    { key: "regret", title: "Regret", kind: "interval", cell: regretOf },
    {
      key: "difference",
      title: "Difference to best",
      kind: "interval",
      cell: (policy) => (policy === best || !best ? null : compare(policy, best)),
    },
    { key: "score_per_query", title: "Score", kind: "number", cell: (p) => p.scorePerQuery },
    { key: "cost_per_query", title: "Cost", kind: "number", cell: (p) => p.costPerQuery },
    {
      key: "regret_perf",
      title: "Regret of scores",
      kind: "interval",
      cell: (p) => intervalOf(p.regretPerf),
    },
    { key: "agreement", title: "Agreement", kind: "percent", cell: (p) => p.agreement },
    micros("decision_p50_us", "Decide p50 (\u00b5s)", (p) => p.decisionMicros.p50),
    micros("decision_p99_us", "Decide p99 (\u00b5s)", (p) => p.decisionMicros.p99),
    micros("update_p50_us", "Update p50 (\u00b5s)", (p) => p.updateMicros.p50),
    micros("update_p99_us", "Update p99 (\u00b5s)", (p) => p.updateMicros.p99),
  ];
  const left = [
    ...(hasCosts(policies) ? [] : ["cost_per_query"]),
    // Without lambda the two regrets are equal.
    ...(isPriced(policies) ? [] : ["regret_perf"]),
  ];
  const shown = columns.filter(
    ({ key, kind }) => !left.includes(key) && (times || kind !== "whole"),
  );
  return tableOf("Cumulative regret with its 95% interval", policies, shown, best);
}

/**
 * Every pair of policies, the better one first, with a paired t-test over runs. `only` keeps
 * the pairs with one policy; p is corrected for all pairs in any case.
 */
export function pairedTable(result: Result, only?: string): Table {
  const policies = ranked(result);
  const pairs = policies.flatMap((a, i) =>
    policies.slice(i + 1).flatMap((b) => {
      const difference = compare(a, b);
      return difference ? [{ a, b, difference }] : [];
    }),
  );
  const corrected = holm(pairs.map(({ difference }) => difference.p));
  const all = pairs.map((pair, i) => ({ ...pair, ...pair.difference, corrected: corrected[i]! }));
  const shown = all.filter(({ a, b }) => only === undefined || [a.name, b.name].includes(only));
  return tableOf("Difference of cumulative regret, run by run, with its 95% interval", shown, [
    { key: "policy", title: "Policy", kind: "text", cell: ({ a }) => a.name },
    { key: "against", title: "Against", kind: "text", cell: ({ b }) => b.name },
    { key: "difference", title: "Difference", kind: "interval", cell: (one) => one.difference },
    {
      key: "excludes_0",
      title: "Excludes 0",
      kind: "text",
      cell: (one) => (Number.isFinite(one.lo) ? (excludesZero(one) ? "yes" : "no") : null),
    },
    { key: "p", title: "p", kind: "p-value", cell: ({ p }) => p },
    { key: "p_holm", title: "p (Holm)", kind: "p-value", cell: (one) => one.corrected },
    { key: "won", title: "Runs won", kind: "number", cell: ({ won }) => won },
    { key: "runs", title: "of", kind: "number", cell: ({ a }) => a.regret.runs.length },
  ]);
}

function micros(key: string, title: string, value: (policy: Ranked) => number) {
  // A policy that never learns has no updates to time.
  return { key, title, kind: "whole" as const, cell: (policy: Ranked) => value(policy) || null };
}

function rankOf({ regret }: PolicyResult): number {
  return Number.isFinite(regret.mean) ? regret.mean : Number.MAX_VALUE;
}
