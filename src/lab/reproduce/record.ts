import { CodeHashes } from "../jobs/code.ts";
import { type FileRef, filesIn } from "../jobs/job.ts";
import { type Interval, mean, meanInterval } from "../statistics.ts";
import { type Curve, fullName } from "./curve.ts";
import type { FoundEncoders } from "./encoders.ts";
import { byId, type Reproduced } from "./experiment.ts";
import KINDS from "./jobs/kinds.ts";
import type { RunSpec } from "./jobs/specs.ts";
import type { Planner } from "./planner.ts";
import type { Measure, Results } from "./results.ts";
import type { Finding, JudgedCell, JudgedPart } from "./verdict.ts";

/** The content of `reproduce.json`: what was run, on what data, and the results. */
export interface ReproduceRecord {
  readonly schema: 2;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly encoders: readonly {
    readonly name: string;
    readonly identity: string;
    readonly epochs: readonly number[];
  }[];
  readonly absent: FoundEncoders["absent"];
  readonly data: readonly FileRef[];
  readonly versions: Readonly<Record<string, string>>;
  /** Hash of the code that decides the results of each kind of job, with each policy. */
  readonly code: Readonly<Record<string, string>>;
  readonly curves: readonly RecordedCurve[];
  readonly claims: readonly RecordedClaim[];
}

interface RecordedCurve extends Omit<Curve, "runs">, RecordedRegret {
  /** The name that `--curve` takes: a baseline is named with its vectors. */
  readonly name: string;
  /** The same after fewer rounds, if the curve is also read there. */
  readonly earlier?: RecordedRegret;
  readonly cost: number | null;
  readonly score: number;
  readonly agreement: number;
  /** Mean regret at some rounds. */
  readonly curve: { readonly t: readonly number[]; readonly mean: readonly number[] };
}

/** Regret after so many rounds. */
interface RecordedRegret {
  readonly rounds: number;
  readonly regret: RecordedInterval;
  readonly priced: RecordedInterval;
}

interface RecordedInterval {
  readonly mean: number;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly runs: readonly number[];
}

interface RecordedClaim extends Omit<Finding, "parts"> {
  readonly id: number;
  readonly ours?: boolean | undefined;
  readonly statement: string;
  readonly criterion: string;
  readonly parts: readonly RecordedPart[];
}

interface RecordedPart extends Omit<JudgedPart, "cells" | "pooled"> {
  readonly pooled: Omit<RecordedInterval, "runs">;
  readonly cells: readonly RecordedCell[];
}

/** A comparison with the difference in each run. */
interface RecordedCell extends Pick<JudgedCell, "label" | "runs" | "voteScale" | "metadata"> {
  /** If the differences are those of two curves: their indices in the list of curves, and where they were read. */
  readonly curves?: readonly number[];
  readonly t?: number;
  readonly measure?: Measure;
}

export interface RecordOptions {
  readonly command: string;
  readonly encoders: FoundEncoders;
  readonly version: string;
}

export function recordOf(
  { planner, results, judged }: Reproduced,
  { command, encoders, version }: RecordOptions,
): ReproduceRecord {
  const { size, seed, plan, curves } = planner;
  const files = plan.jobs.flatMap(({ spec }) => filesIn(spec));
  const data = [...new Map(files.map((file) => [file.sha256, file])).values()];
  return {
    schema: 2,
    settings: {
      command,
      runs: size.runs,
      seed,
      "vote scales": size.scales.join(", "),
      rounds: [...new Set([size.short, size.long])].join(" and "),
      data: data.map(({ name }) => name).join(", "),
    },
    encoders: encoders.here.map(({ name, ref, epochs }) => ({
      name,
      identity: ref.identity,
      epochs,
    })),
    absent: encoders.absent,
    data,
    versions: { joust: version, node: process.version },
    code: codeOf(planner),
    curves: curves.map((curve) => recordedCurve(results, curve)),
    claims: byId(judged).map(({ claim: { id, ours, statement, criterion }, ...finding }) => ({
      id,
      ours,
      statement,
      criterion,
      ...finding,
      parts: finding.parts.map((part) => recordedPart(part, curves)),
    })),
  };
}

function recordedPart(
  { cells, pooled, ...part }: JudgedPart,
  curves: readonly Curve[],
): RecordedPart {
  return {
    ...part,
    pooled: bounds(pooled),
    cells: cells.map(({ label, runs, voteScale, metadata, of }) => ({
      label,
      runs,
      voteScale,
      metadata,
      ...(of && { ...of, curves: of.curves.map((curve) => curves.indexOf(curve)) }),
    })),
  };
}

function codeOf({ plan }: Planner): Record<string, string> {
  const codes = new CodeHashes();
  const found = plan.jobs.map(({ kind, spec }): [string, string] => {
    const { policy } = spec as Partial<RunSpec>;
    const name = policy ? `${kind} with ${policy.kind}` : kind;
    return [name, codes.of(KINDS[kind]!.code(spec))];
  });
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const POINTS_PER_CURVE = 20;

function recordedCurve(results: Results, curve: Curve): RecordedCurve {
  const { runs: _, ...head } = curve;
  const runs = results.runs(curve);
  const { t } = runs[0]!;
  const step = Math.max(1, Math.floor(t.length / POINTS_PER_CURVE));
  const kept = [...t.keys()].filter((i) => (i + 1) % step === 0 || i === t.length - 1);
  const meanOf = (of: (run: (typeof runs)[number]) => number) => round(mean(runs.map(of)));
  const at = (i: number): RecordedRegret => ({
    rounds: t.at(i)!,
    regret: recordedInterval(runs.map(({ regret }) => regret.at(i)!)),
    priced: recordedInterval(runs.map(({ priced }) => priced.at(i)!)),
  });
  const short = t.indexOf(results.planner.size.short);
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return {
    ...head,
    name: fullName(curve),
    ...at(-1),
    ...(short >= 0 && short < t.length - 1 && { earlier: at(short) }),
    cost: costs.length > 0 ? round(mean(costs)) : null,
    score: meanOf(({ score }) => score),
    agreement: meanOf(({ agreement }) => agreement),
    curve: {
      t: kept.map((i) => t[i]!),
      mean: kept.map((i) => meanOf(({ regret }) => regret[i]!)),
    },
  };
}

function recordedInterval(values: readonly number[]): RecordedInterval {
  return { ...bounds(meanInterval(values)), runs: values.map(round) };
}

/** JSON has no NaN, so the bounds of one run are null. */
function bounds({ mean, lo, hi }: Interval): Omit<RecordedInterval, "runs"> {
  const known = Number.isFinite(lo);
  return { mean: round(mean), lo: known ? round(lo) : null, hi: known ? round(hi) : null };
}

function round(value: number): number {
  return Number(value.toPrecision(6));
}
