import { decimalsOf, fixed } from "../report/table.ts";
import { type Interval, mean, meanInterval } from "../statistics.ts";

type Verdict = "holds" | "does not hold" | "cannot be tested here";

/** The verdict on a claim and its evidence. */
export interface Finding {
  readonly verdict: Verdict;
  /** If the claim does not hold: whether its opposite does. Otherwise the claim is merely not shown. */
  readonly refuted?: boolean;
  /** The numbers in short, or the reason why there are none. */
  readonly evidence: string;
  readonly cells: readonly JudgedCell[];
  /** Parts of the paper for which something else stands in: OpenAItext, MixInstruct. */
  readonly standIns?: readonly string[];
}

/** One comparison that a claim makes. */
export interface Cell extends CellSetting {
  readonly label: string;
  /** One number per run, negative if the run supports the claim. */
  readonly differences: readonly number[];
}

/** Attributes by which the evidence counts cells, if the cells of a claim differ in them. */
interface CellSetting {
  readonly voteScale?: number | undefined;
  /** The way in which Perf and Cost are appended to a_k: none, raw or scaled. */
  readonly metadata?: string | undefined;
}

export interface JudgedCell extends Interval, CellSetting {
  readonly label: string;
  /** Whether the whole interval lies below 0. */
  readonly supports: boolean;
}

/** The share of the cells whose interval must lie on the claim's side. */
const SHARE = 2 / 3;

/**
 * The criterion of every comparison: the claim holds if the 95% interval of the
 * paired difference lies on its side of 0 in at least two thirds of the cells.
 * It is refuted if the interval lies on the other side in as many.
 */
export function decide(
  cells: readonly Cell[],
  { unit = "regret", without = "no curve here tests it" } = {},
): Finding {
  if (cells.length === 0) return untestable(without);
  if (cells.some(({ differences }) => differences.length < 2)) {
    return untestable("one run has no interval: give --runs 5");
  }
  const broken = cells.find(({ differences }) => !differences.every(Number.isFinite));
  if (broken) return untestable(`a run of ${broken.label} has no number to compare`);
  const judged = cells.map(({ differences, ...cell }): JudgedCell => {
    const interval = meanInterval(differences);
    return { ...cell, ...interval, supports: interval.hi < 0 };
  });
  const supporting = judged.filter(({ supports }) => supports).length;
  const opposing = judged.filter(({ lo }) => lo > 0).length;
  const open = judged.length - supporting - opposing;
  const means = judged.map((cell) => cell.mean);
  const decimals = Math.max(1, decimalsOf(means));
  const show = (value: number) => fixed(value, decimals);
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
        ? ` on average over cells, whose means go from ${show(Math.min(...means))} to ${show(Math.max(...means))}`
        : "",
    ].join(""),
    cells: judged,
  };
}

/** `14 of 42` */
export function shown(cells: readonly JudgedCell[]): string {
  return `${cells.filter(({ supports }) => supports).length} of ${cells.length}`;
}

/** `shown in 14 of 42 cells (scale 1: 3 of 14; 3: 5 of 14; 10: 6 of 14)` */
export function shownIn(cells: readonly JudgedCell[]): string {
  const counts = [
    ...countBy(cells, "scale", ({ voteScale }) => voteScale),
    ...countBy(cells, "metadata", ({ metadata }) => metadata),
  ];
  const groups = counts.length > 0 ? ` (${counts.join("; ")})` : "";
  return `shown in ${shown(cells)} ${cells.length === 1 ? "cell" : "cells"}${groups}`;
}

/** Nothing if all cells have the same attribute. */
function countBy(
  cells: readonly JudgedCell[],
  word: string,
  attribute: (cell: JudgedCell) => string | number | undefined,
): string[] {
  const groups = Map.groupBy(cells, attribute);
  groups.delete(undefined);
  if (groups.size < 2) return [];
  return [`${word} ${[...groups].map(([name, own]) => `${name}: ${shown(own)}`).join("; ")}`];
}

interface Part {
  readonly name: string;
  readonly cells: readonly Cell[];
  readonly unit?: string;
}

/** A claim of several parts holds if all of them do. A part that does not hold decides alone. */
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
  return combine(findings, "every");
}

/** A claim for which one part is enough. It is refuted if each part is. Parts that were not run do not count. */
export function decideAny(parts: readonly Part[]): Finding {
  const run = parts.filter(({ cells }) => cells.length > 0);
  if (run.length === 0) return decide([]);
  const findings = run.map(({ name, cells }) => ({ name, ...decide(cells) }));
  const open = findings.find(isOpen);
  return open ? untestable(open.evidence) : combine(findings, "some");
}

function isOpen({ verdict }: Finding): boolean {
  return verdict === "cannot be tested here";
}

function combine(
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

/** a - factor * b, run by run. */
export function minus(a: readonly number[], b: readonly number[], factor = 1): number[] {
  if (a.length !== b.length) throw new RangeError(`cannot pair ${a.length} runs with ${b.length}`);
  return a.map((value, i) => value - factor * b[i]!);
}
