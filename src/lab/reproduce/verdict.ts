/** Decides claims by their cells. Every decision can be repeated from the numbers that `reproduce.json` keeps. */
import { holm, type Interval, meanInterval, pairedDifference } from "../../core/statistics.ts";
import type { Curve } from "./curve.ts";
import { pooledInterval } from "./pooled.ts";
import type { Measure } from "./results.ts";

/** The result of testing a claim of the paper. */
export type ClaimVerdict = "holds" | "refuted" | "open" | "not testable here";

/** One comparison that a claim makes. */
export interface Cell {
  readonly label: string;
  /** One number per run, negative if the run supports the claim. */
  readonly runs: readonly number[];
  readonly voteScale?: number | undefined;
  /** The way in which Perf and Cost are appended to a_k: none, raw or scaled. */
  readonly metadata?: string | undefined;
  /** The two curves, if the numbers are simply the differences of their regret after t rounds. */
  readonly of?:
    | { readonly curves: readonly [Curve, Curve]; readonly t: number; readonly measure: Measure }
    | undefined;
}

/**
 * two thirds    for the claim: the 95% interval of a cell lies below 0; against it: above 0.
 *               The part holds if two thirds of the cells are for it, and is refuted if as many
 *               are against it.
 * bound         the same, but nothing is against it: a bound for large T says nothing about short runs.
 * exception     the same, but one cell is enough if it is for the claim after Holm's correction.
 * equivalence   for the claim: the interval contains 0 and reaches no further than `margin`.
 * number        for the claim: the only number is at most 0. There are no runs.
 */
type Rule = "two thirds" | "bound" | "exception" | "equivalence" | "number";

/** Cells that are decided together. */
export interface Part {
  /** Empty if the claim has only one part. */
  readonly name?: string;
  /** The quantity whose differences the cells hold; regret by default. */
  readonly unit?: string;
  readonly rule?: Rule;
  readonly margin?: number;
  readonly cells: readonly Cell[];
}

export interface JudgedCell extends Cell, Interval {
  readonly side: "for" | "against" | "undecided";
}

export interface JudgedPart extends Required<Omit<Part, "cells" | "margin">> {
  readonly margin?: number | undefined;
  readonly verdict: ClaimVerdict;
  readonly cells: readonly JudgedCell[];
  /** The mean over cells with its interval over runs. */
  readonly pooled: Interval;
}

/** The verdict on a claim and its evidence. */
export interface Finding {
  readonly verdict: ClaimVerdict;
  readonly parts: readonly JudgedPart[];
  /** "some": one part is enough for the claim to hold. */
  readonly enough: "every" | "some";
  /** The reason why the claim cannot be tested, and remarks beside the numbers. */
  readonly notes: readonly string[];
  /** Verdict of the stand-ins, if something of the paper is not here. */
  readonly standIn?:
    | { readonly for: readonly string[]; readonly verdict: ClaimVerdict }
    | undefined;
}

const SHARE = 2 / 3;
const NOTHING = "no curve here tests it";

export function judgePart(part: Part): JudgedPart {
  const { name = "", unit = "regret", rule = "two thirds", margin } = part;
  const cells = part.cells.map((cell): JudgedCell => {
    const runs = cell.runs.map(sixDigits);
    const interval = rule === "number" ? pointInterval(runs[0]!) : meanInterval(runs);
    return { ...cell, runs, ...interval, side: sideOf(interval, rule, margin) };
  });
  const pooled = pooledInterval(cells.map(({ runs }) => runs));
  const judged = { name, unit, rule, margin, cells, pooled };
  return { ...judged, verdict: verdictOf(judged) };
}

/** The rounding of `reproduce.json`, so that a verdict repeated from it is the same. */
function sixDigits(value: number): number {
  return Number(value.toPrecision(6));
}

function pointInterval(value: number): Interval {
  return { mean: value, lo: value, hi: value };
}

function sideOf({ lo, hi }: Interval, rule: Rule, margin = 0): JudgedCell["side"] {
  if (rule === "equivalence") {
    if (lo <= 0 && hi >= 0 && Math.max(-lo, hi) < margin) return "for";
    return lo > margin || hi < -margin ? "against" : "undecided";
  }
  if (rule === "number") return hi <= 0 ? "for" : "against";
  return hi < 0 ? "for" : lo > 0 && rule !== "bound" ? "against" : "undecided";
}

function verdictOf({ cells, rule }: Pick<JudgedPart, "cells" | "rule">): ClaimVerdict {
  if (untestable({ cells, rule }) !== undefined) return "not testable here";
  const { for: supporting, against } = countSides(cells);
  if (supporting >= SHARE * cells.length) return "holds";
  if (rule === "exception" && exceptions(cells) > 0) return "holds";
  return against >= SHARE * cells.length ? "refuted" : "open";
}

/** The reason why some cells decide nothing; undefined if they do. */
export function untestable({
  cells,
  rule,
}: Pick<JudgedPart, "cells" | "rule">): string | undefined {
  if (cells.length === 0) return NOTHING;
  if (rule === "number") return undefined;
  if (cells.some(({ runs }) => runs.length < 2)) return "one run has no interval: give --runs 5";
  const broken = cells.find(({ runs }) => !runs.every(Number.isFinite));
  return broken && `a run of ${broken.label} has no number to compare`;
}

export function countSides(cells: readonly JudgedCell[]) {
  const count = (wanted: JudgedCell["side"]) => cells.filter(({ side }) => side === wanted).length;
  return { for: count("for"), against: count("against"), undecided: count("undecided") };
}

/** Number of cells in which the claim is right at a level of 5% over all cells. */
export function exceptions(cells: readonly JudgedCell[]): number {
  const tested = cells.map(({ runs }) =>
    pairedDifference(
      runs,
      runs.map(() => 0),
    ),
  );
  const p = holm(tested.map((one) => one.p));
  return tested.filter(({ mean }, i) => mean < 0 && p[i]! < 0.05).length;
}

/** The cells whose a_k have no metadata appended, and those that have, as parts; undefined if one of them has no cell. */
export function byMetadata(
  part: JudgedPart,
): { readonly without: JudgedPart; readonly having: JudgedPart } | undefined {
  const plain = part.cells.filter(({ metadata }) => metadata === "none");
  const appended = part.cells.filter(({ metadata = "none" }) => metadata !== "none");
  if (plain.length === 0 || appended.length === 0) return undefined;
  const of = (cells: readonly JudgedCell[]) => judgePart({ ...part, cells } as Part);
  return { without: of(plain), having: of(appended) };
}

export interface JudgeOptions {
  /** "some": one part is enough, and parts without cells do not count. */
  readonly enough?: "every" | "some" | undefined;
  /** The reason if there is no cell. */
  readonly without?: string | undefined;
  readonly note?: string | undefined;
  /** Parts of the paper that are not here, and for which something else stands in. */
  readonly missing?: readonly string[] | undefined;
}

/**
 * A claim of several parts holds if every part does, and is refuted if one part is. If one part
 * is open, so is the claim, even if another part cannot be tested. If one part is enough, the
 * claim is refuted if every part is.
 */
export function judgeParts(all: readonly Part[], options: JudgeOptions = {}): Finding {
  const { enough = "every", note, missing = [] } = options;
  const run = enough === "some" ? all.filter(({ cells }) => cells.length > 0) : all;
  const parts = run.map(judgePart);
  const is = (wanted: ClaimVerdict) => (part: JudgedPart) => part.verdict === wanted;
  const blank = parts.find(is("not testable here"));
  const whole: ClaimVerdict =
    parts.length === 0 || (blank && !parts.some((part) => is("refuted")(part) || is("open")(part)))
      ? "not testable here"
      : parts[enough](is("holds"))
        ? "holds"
        : parts[enough === "every" ? "some" : "every"](is("refuted"))
          ? "refuted"
          : "open";
  const none = parts.every(({ cells }) => cells.length === 0);
  const reason = none ? (options.without ?? NOTHING) : undefined;
  const standsIn = missing.length > 0 && !none;
  return {
    verdict: standsIn ? "not testable here" : whole,
    parts: none ? [] : parts,
    enough,
    notes: [reason, note].filter((text) => text !== undefined),
    ...(standsIn && { standIn: { for: missing, verdict: whole } }),
  };
}

/** a - factor * b, run by run, over the runs that both have. */
export function minus(a: readonly number[], b: readonly number[], factor = 1): number[] {
  return a.slice(0, b.length).map((value, i) => value - factor * b[i]!);
}
