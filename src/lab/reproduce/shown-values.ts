/**
 * The values of jobs as the report uses them, and their compact form in published runs. The report
 * rounds every value, whether it was computed or published, so that both give the same report.
 */
import type { ProjectValue, RunValue } from "./jobs/specs.ts";
import type { DataNames } from "./results.ts";

/** Regret is kept in units of 0.0001, so that a curve is a list of small whole numbers. */
const UNITS = 10_000;

/** A run as it is published. Curves are lists of differences. */
interface PackedRun extends Omit<RunValue, "t" | "regret" | "priced"> {
  readonly t: readonly number[];
  /** In units of 0.0001. */
  readonly regret: readonly number[];
  /** Left out if it is equal to the regret. */
  readonly priced?: readonly number[];
}

/** The shown part of a job's value. */
export function shownValue(kind: string, value: unknown): unknown {
  switch (kind) {
    case "data":
      return namesOf(value as DataNames);
    case "run":
    case "linear":
      return shownRun(value as RunValue);
    case "project":
      return shownProject(value as ProjectValue);
    default:
      return value;
  }
}

/** Packs a value that `shownValue` returned. */
export function packValue(kind: string, value: unknown): unknown {
  return isRun(kind) ? packRun(value as RunValue) : value;
}

export function unpackValue(kind: string, packed: unknown): unknown {
  return isRun(kind) ? unpackRun(packed as PackedRun) : packed;
}

function isRun(kind: string): boolean {
  return kind === "run" || kind === "linear";
}

/** A data set without its queries, which take much memory. */
function namesOf({ models, categories }: DataNames): DataNames {
  return { models, categories };
}

function shownRun({ t, regret, priced, score, cost, agreement, choices }: RunValue): RunValue {
  return {
    t,
    regret: regret.map((value) => toUnits(value) / UNITS),
    priced: priced.map((value) => toUnits(value) / UNITS),
    score: significant(score, 8),
    cost: cost === null ? null : significant(cost, 8),
    agreement: significant(agreement, 8),
    choices,
  };
}

function packRun({ t, regret, priced, ...rest }: RunValue): PackedRun {
  const own = differences(regret.map(toUnits));
  const other = differences(priced.map(toUnits));
  const isSame = own.every((value, i) => value === other[i]);
  return { t: differences(t), regret: own, ...(!isSame && { priced: other }), ...rest };
}

function unpackRun({ t, regret, priced = regret, ...rest }: PackedRun): RunValue {
  const curve = (steps: readonly number[]) => sums(steps).map((value) => value / UNITS);
  return { ...rest, t: sums(t), regret: curve(regret), priced: curve(priced) };
}

/** Three digits place a point more exactly than a figure can show it. */
function shownProject({ points, divergence, ...rest }: ProjectValue): ProjectValue {
  const rounded = points.map(([x, y, z]) => {
    return [significant(x, 3), significant(y, 3), significant(z, 3)] as const;
  });
  return { ...rest, points: rounded, divergence: significant(divergence, 8) };
}

function toUnits(value: number): number {
  return Math.round(value * UNITS);
}

function significant(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}

function differences(values: readonly number[]): number[] {
  return values.map((value, i) => value - (values[i - 1] ?? 0));
}

function sums(steps: readonly number[]): number[] {
  let total = 0;
  return steps.map((step) => {
    total += step;
    return total;
  });
}
