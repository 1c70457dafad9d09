/** The path of `joust reproduce`: plan the experiments, run their jobs, judge the claims, write the report. */
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import type { JobId, Workers } from "../jobs/job.ts";
import type { Plan, PlannedJob } from "../jobs/plan.ts";
import type { ProgressReport } from "../jobs/progress.ts";
import type { Published } from "../jobs/published.ts";
import { remainingJobs } from "../jobs/remaining.ts";
import { runPlan } from "../jobs/run-plan.ts";
import type { Store } from "../jobs/store.ts";
import type { Table } from "../report/table.ts";
import { type Curve, fullName } from "./curve.ts";
import type { DataSets } from "./data-sets.ts";
import type { FoundEncoders } from "./encoders.ts";
import type { JudgedClaim, Reproduced, Reproduction, Suite } from "./experiment.ts";
import KINDS from "./jobs/kinds.ts";
import { INTERNAL_KINDS, Planner, type Size } from "./planner.ts";
import { type RecordOptions, type ReproduceRecord, recordOf } from "./record.ts";
import { curvesTable } from "./report-items.ts";
import { Results } from "./results.ts";
import { shownValue, unpackValue } from "./shown-values.ts";
import { judgeParts } from "./verdict.ts";

export interface PlanOptions {
  readonly data: DataSets;
  readonly encoders: FoundEncoders;
  readonly size: Size;
  readonly seed: number;
}

export interface RunOptions {
  readonly store: Store;
  readonly workers: Workers;
  /** Results that are not computed again. */
  readonly published?: Published | undefined;
  readonly onProgress?: ((report: ProgressReport) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReproduceOptions extends RunOptions, RecordOptions {
  /** The folder of the report. */
  readonly out: string;
}

/** Runs the planned jobs that are not done yet, judges the claims and writes the report; undefined if stopped. */
export async function reproduce(
  reproduction: Reproduction,
  options: ReproduceOptions,
): Promise<(Reproduced & { readonly record: ReproduceRecord }) | undefined> {
  const { planner } = reproduction;
  // The results of embed and fit jobs are only inputs of others.
  const shown = planner.plan.jobs.filter(({ kind }) => !INTERNAL_KINDS.includes(kind));
  const ids = shown.map(({ id }) => id);
  const results = await run(planner, planner.plan, ids, options);
  if (!results) return undefined;
  const reproduced = { ...reproduction, results, judged: judge(reproduction, results) };
  const record = recordOf(reproduced, options);
  const { writeReport } = await import("./write-report.ts");
  await writeReport(options.out, reproduced, record);
  return { ...reproduced, record };
}

/** Plans the jobs of the named experiments and what they will show. */
export async function plan(
  suite: Suite,
  names: readonly string[],
  { data, encoders, size, seed }: PlanOptions,
): Promise<Reproduction> {
  const planner = new Planner(data, encoders.here, size, seed);
  const parts = [];
  for (const experiment of suite.experiments) {
    if (!names.includes(experiment.name)) continue;
    parts.push({ experiment, ...(await experiment.plan(planner)) });
  }
  return { planner, parts, claims: suite.claims };
}

/** Runs a plan and reads the results of some of its jobs. */
async function run(
  planner: Planner,
  plan: Plan,
  ids: readonly JobId[],
  options: RunOptions,
): Promise<Results | undefined> {
  const keys = await runPlan(plan, { kinds: KINDS, ...options });
  if (!keys) return undefined;
  const { store, published } = options;
  const values = new Map<JobId, unknown>();
  for (const id of new Set(ids)) {
    const key = keys.get(id)!;
    const { kind } = plan.find(id);
    const known = published?.find(key)?.value;
    const value =
      known === undefined
        ? shownValue(kind, (await store.get(key)).value)
        : unpackValue(kind, known);
    values.set(id, value);
  }
  return new Results(planner, values);
}

function judge({ claims, parts }: Reproduction, results: Results): JudgedClaim[] {
  const done = parts.filter(({ items }) => items.length > 0).map((part) => part.experiment.name);
  return claims.map((claim) => {
    const missing = claim.needs.filter((name) => !done.includes(name));
    const without = `${missing.join(" and ")} ${missing.length > 1 ? "were" : "was"} not run`;
    return { claim, ...(missing.length === 0 ? claim.test(results) : judgeParts([], { without })) };
  });
}

/** The curves of a name in all their settings. Baselines may be named with their vectors, as in tables. */
export function curvesNamed(
  { planner }: Pick<Reproduction, "planner">,
  name: string,
  absent: FoundEncoders["absent"] = [],
): Curve[] {
  const found = planner.curves.filter((curve) => curve.name === name || fullName(curve) === name);
  if (found.length > 0) return found;
  const missing = absent.find((encoder) => name.includes(encoder.name));
  if (missing) {
    throw new InputError(
      { file: "--curve" },
      `there is no curve ${name}, because ${missing.name} was not run`,
      missing.reason,
    );
  }
  const names = [...new Set(planner.curves.flatMap((curve) => [curve.name, fullName(curve)]))];
  throw new InputError(
    { file: "--curve" },
    `there is no curve ${name}`,
    `${didYouMean(name, names)}the report names the curves in its figures, tables and lists`,
  );
}

/** The jobs that some curves need. */
export function planOf({ planner }: Reproduction, curves: readonly Curve[]): Plan {
  return planner.plan.only(curves.flatMap(({ runs }) => runs));
}

/** The jobs of a plan that have no result yet. */
export function remainingOf(
  plan: Plan,
  known: Pick<RunOptions, "store" | "published">,
): Promise<PlannedJob[]> {
  return remainingJobs(plan, { kinds: KINDS, ...known });
}

/** Runs some curves and nothing else, and returns their numbers; undefined if stopped. */
export async function reproduceCurves(
  reproduction: Reproduction,
  curves: readonly Curve[],
  options: RunOptions,
): Promise<Table | undefined> {
  const ids = curves.flatMap(({ runs }) => runs);
  const results = await run(reproduction.planner, planOf(reproduction, curves), ids, options);
  if (!results) return undefined;
  const rounds = [...new Set(curves.map((curve) => results.rounds(curve)))].sort((a, b) => a - b);
  const drawing = curvesTable("curve", curves[0]!.name, { curves, rounds }).draw(results);
  return drawing.kind === "table" ? drawing.table : undefined;
}
