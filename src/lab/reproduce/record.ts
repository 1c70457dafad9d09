import { type Interval, mean, meanInterval } from "../../core/statistics.ts";
import { CodeHashes } from "../jobs/code.ts";
import { filesIn } from "../jobs/job.ts";
import { type Curve, fullName } from "./curve.ts";
import type { FoundEncoders } from "./encoders.ts";
import { byId, type Reproduced } from "./experiment.ts";
import KINDS from "./jobs/kinds.ts";
import type { RunSpec } from "./jobs/specs.ts";
import { type Planner, runsText } from "./planner.ts";
import type { Results } from "./results.ts";
import type { JudgedPart } from "./verdict.ts";

export interface RecordOptions {
  readonly command: string;
  readonly encoders: FoundEncoders;
  readonly version: string;
}

export type ReproduceRecord = ReturnType<typeof recordOf>;

/** The content of `reproduce.json`: what was run, on what data, and the results. */
export function recordOf(
  { planner, results, judged }: Reproduced,
  { command, encoders, version }: RecordOptions,
) {
  const { size, seed, plan, curves } = planner;
  const files = plan.jobs.flatMap(({ spec }) => filesIn(spec));
  const data = [...new Map(files.map((file) => [file.sha256, file])).values()];
  const settings: Record<string, string | number> = {
    command,
    runs: runsText(size),
    seed,
    "vote scales": size.scales.join(", "),
    rounds: [...new Set([size.short, size.long])].join(" and "),
    data: data.map(({ name }) => name).join(", "),
  };
  const versions: Record<string, string> = { joust: version, node: process.version };
  return {
    schema: 2,
    settings,
    encoders: encoders.here.map(({ name, ref: { identity }, epochs }) => {
      return { name, identity, epochs };
    }),
    absent: encoders.absent,
    data,
    versions,
    code: codeOf(planner),
    curves: curves.map((curve) => recordedCurve(results, curve)),
    claims: byId(judged).map(({ claim: { id, ours, statement, criterion }, ...finding }) => {
      const parts = finding.parts.map((part) => recordedPart(part, curves));
      return { id, ours, statement, criterion, ...finding, parts };
    }),
  };
}

/** Hash of the code that decides the results of each kind of job, with each policy. */
function codeOf({ plan }: Planner): Record<string, string> {
  const codes = new CodeHashes();
  const found = plan.jobs.map(({ kind, spec }): [string, string] => {
    const { policy } = spec as Partial<RunSpec>;
    const name = policy ? `${kind} with ${policy.kind}` : kind;
    return [name, codes.of(KINDS[kind]!.code(spec))];
  });
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A part of a claim. A cell has the difference of each run and, if two curves were subtracted, their indices and the round. */
function recordedPart({ cells, pooled, ...part }: JudgedPart, curves: readonly Curve[]) {
  return {
    ...part,
    pooled: bounds(pooled),
    cells: cells.map(({ label, runs, voteScale, metadata, of }) => {
      const pair = of && { ...of, curves: of.curves.map((curve) => curves.indexOf(curve)) };
      return { label, runs, voteScale, metadata, ...pair };
    }),
  };
}

const POINTS_PER_CURVE = 20;

/** A baseline has the name that `--curve` takes: with its vectors. */
function recordedCurve(results: Results, curve: Curve) {
  const { runs: _, ...head } = curve;
  const runs = results.runs(curve);
  const { t } = runs[0]!;
  const step = Math.max(1, Math.floor(t.length / POINTS_PER_CURVE));
  const kept = [...t.keys()].filter((i) => (i + 1) % step === 0 || i === t.length - 1);
  const meanOf = (of: (run: (typeof runs)[number]) => number) => round(mean(runs.map(of)));
  const regretsAt = (measure: "regret" | "priced", i: number) => {
    const values = runs.map((run) => run[measure].at(i)!);
    return { ...bounds(meanInterval(values)), runs: values.map(round) };
  };
  const at = (i: number) => ({
    rounds: t.at(i)!,
    regret: regretsAt("regret", i),
    priced: regretsAt("priced", i),
  });
  const short = t.indexOf(results.planner.size.short);
  const costs = runs.flatMap(({ cost }) => cost ?? []);
  return {
    ...head,
    name: fullName(curve),
    ...at(-1),
    // The same numbers after fewer rounds, if the report also shows the curve at that length.
    ...(short >= 0 && short < t.length - 1 && { earlier: at(short) }),
    cost: costs.length > 0 ? round(mean(costs)) : null,
    score: meanOf(({ score }) => score),
    agreement: meanOf(({ agreement }) => agreement),
    /** Mean regret at some rounds. */
    curve: {
      t: kept.map((i) => t[i]!),
      mean: kept.map((i) => meanOf(({ regret }) => regret[i]!)),
    },
  };
}

/** JSON has no NaN, so the bounds of one run are null. */
function bounds({ mean, lo, hi }: Interval) {
  const known = Number.isFinite(lo);
  return { mean: round(mean), lo: known ? round(lo) : null, hi: known ? round(hi) : null };
}

function round(value: number): number {
  return Number(value.toPrecision(6));
}
