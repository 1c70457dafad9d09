import { decimalsOf, fixed } from "../report/table.ts";
import { type Interval, mean, meanInterval } from "../statistics.ts";
import type { Finding } from "./experiment.ts";

/** One cell that a claim speaks of: per run a number that is negative where the claim is right. */
export interface CellOfClaim extends World {
  readonly label: string;
  readonly differences: readonly number[];
}

/** What evidence is counted by, where a claim's cells differ in it. */
interface World {
  readonly voteScale?: number | undefined;
  /** How Perf and Cost are appended to a_k: none, raw or scaled. */
  readonly metadata?: string | undefined;
}

export interface JudgedCell extends Interval, World {
  readonly label: string;
  /** Whether the whole interval lies below 0. */
  readonly supports: boolean;
}

/** In so many of the cells the interval must lie on the claim's side. */
const SHARE = 2 / 3;

/**
 * The criterion of every comparison: the claim holds if the 95% interval of the
 * paired difference lies on its side of 0 in at least two thirds of the cells.
 * It is refuted if it lies on the other side in as many.
 */
export function decide(
  cells: readonly CellOfClaim[],
  { unit = "regret", without = "nothing here speaks of it" } = {},
): Finding {
  if (cells.length === 0) return untestable(without);
  if (cells.some(({ differences }) => differences.length < 2)) {
    return untestable("one run has no interval: give --runs 5");
  }
  const broken = cells.find(({ differences }) => !differences.every(Number.isFinite));
  if (broken) return untestable(`a run of ${broken.label} has no number to compare`);
  const judged = cells.map(({ differences, ...world }): JudgedCell => {
    const interval = meanInterval(differences);
    return { ...world, ...interval, supports: interval.hi < 0 };
  });
  const supporting = judged.filter(({ supports }) => supports).length;
  const opposing = judged.filter(({ lo }) => lo > 0).length;
  const open = judged.length - supporting - opposing;
  const means = judged.map((cell) => cell.mean);
  const decimals = Math.max(1, decimalsOf(means));
  const show = (value: number) => fixed(value, decimals);
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const holds = supporting >= SHARE * judged.length;
  return {
    verdict: holds ? "holds" : "does not hold",
    ...(!holds && { refuted: opposing >= SHARE * judged.length }),
    evidence: [
      shownIn(judged),
      opposing > 0 ? `, the opposite in ${opposing}` : "",
      open > 0 ? `, undecided in ${open}` : "",
      `; difference of ${unit} (below 0: for the claim) ${show(mean(means))}`,
      judged.length > 1
        ? ` on average over cells, whose means go from ${show(least)} to ${show(most)}`
        : "",
    ].join(""),
    cells: judged,
  };
}

/** `14 of 42` */
export function shown(cells: readonly JudgedCell[]): string {
  return `${cells.filter(({ supports }) => supports).length} of ${cells.length}`;
}

/** `shown in 14 of 42 cells`, and in how many of each kind. */
export function shownIn(cells: readonly JudgedCell[]): string {
  return `shown in ${shown(cells)} ${cells.length === 1 ? "cell" : "cells"}${shownBy(cells)}`;
}

/** ` (scale 1: 3 of 24; 3: 14 of 24; 10: 21 of 24)`, and by metadata; nothing of what all cells share. */
function shownBy(cells: readonly JudgedCell[]): string {
  const count = (word: string, of: (cell: JudgedCell) => string | number | undefined) => {
    const groups = Map.groupBy(cells, of);
    groups.delete(undefined);
    if (groups.size < 2) return [];
    return [`${word} ${[...groups].map(([name, own]) => `${name}: ${shown(own)}`).join("; ")}`];
  };
  const counts = [
    ...count("scale", ({ voteScale }) => voteScale),
    ...count("metadata", ({ metadata }) => metadata),
  ];
  return counts.length > 0 ? ` (${counts.join("; ")})` : "";
}

interface Part {
  readonly name: string;
  readonly cells: readonly CellOfClaim[];
  readonly unit?: string;
}

/**
 * A claim of several parts, which holds where each of them does. A part that
 * does not hold decides, whatever cannot be tested beside it.
 */
export function decideEach(
  parts: readonly Part[],
  options: Parameters<typeof decide>[1] = {},
): Finding {
  const findings = parts.map(({ name, cells, unit }) => ({
    name,
    ...decide(cells, { ...options, ...(unit !== undefined && { unit }) }),
  }));
  const fails = findings.some(({ verdict }) => verdict === "does not hold");
  const open = findings.find(isOpen);
  if (open && !fails) return untestable(open.evidence);
  return together(findings, "every");
}

/** A claim of which one part is enough, and which is refuted if each is. Parts that were not run do not count. */
export function decideAny(parts: readonly Part[]): Finding {
  const run = parts.filter(({ cells }) => cells.length > 0);
  if (run.length === 0) return decide([]);
  const findings = run.map(({ name, cells }) => ({ name, ...decide(cells) }));
  const open = findings.find(isOpen);
  return open ? untestable(open.evidence) : together(findings, "some");
}

function isOpen({ verdict }: Finding): boolean {
  return verdict === "cannot be tested here";
}

/** Holds where every finding does, or some; it is then refuted where some is, or every one. */
function together(
  findings: readonly (Finding & { readonly name: string })[],
  enough: "every" | "some",
): Finding {
  const holds = findings[enough](({ verdict }) => verdict === "holds");
  const refuted = findings[enough === "every" ? "some" : "every"]((one) => one.refuted);
  return {
    verdict: holds ? "holds" : "does not hold",
    ...(!holds && { refuted }),
    evidence: findings.map(({ name, evidence }) => `${name}: ${evidence}`).join(". "),
    cells: findings.flatMap(({ cells }) => cells),
  };
}

export function untestable(reason: string): Finding {
  return { verdict: "cannot be tested here", evidence: reason, cells: [] };
}

/** a - factor b, run by run. */
export function minus(a: readonly number[], b: readonly number[], factor = 1): number[] {
  if (a.length !== b.length) throw new RangeError(`cannot pair ${a.length} runs with ${b.length}`);
  return a.map((value, i) => value - factor * b[i]!);
}
