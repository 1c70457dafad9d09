import { CodeHashes } from "../jobs/code.ts";
import type { JobId } from "../jobs/job.ts";
import type { Plan, PlannedJob } from "../jobs/plan.ts";
import {
  type Published,
  type PublishedLine,
  type PublishedResult,
  writePublished,
} from "../jobs/published.ts";
import { keyOf } from "../jobs/run-plan.ts";
import type { Store } from "../jobs/store.ts";
import KINDS from "./jobs/kinds.ts";
import { INTERNAL_KINDS } from "./planner.ts";
import { packValue, shownValue } from "./shown-values.ts";

export interface PublishOptions {
  readonly store: Store;
  /** Results that are published already and may be missing in the store. */
  readonly published?: Published | undefined;
  readonly folder: string;
  /** The files are called NAME-run-01 and so on. */
  readonly name: string;
}

export interface PublishedCount {
  /** Number of jobs of the plan. */
  readonly total: number;
  /** Number of them that were finished, and so are published now. */
  readonly finished: number;
}

/**
 * Writes the results of all finished jobs of a plan, one file per run, and runs nothing. Of vectors
 * and texts only the digests are written, because others can compute them from the data.
 */
export async function publish(plan: Plan, options: PublishOptions): Promise<PublishedCount> {
  const codes = new CodeHashes();
  const digests = new Map<JobId, string>();
  const needed = new Set(plan.jobs.flatMap(({ needs }) => needs));
  const files = new Map<string, PublishedLine[]>();
  let finished = 0;
  for (const job of plan.jobs) {
    if (!job.needs.every((need) => digests.has(need))) continue;
    const key = keyOf(job, KINDS, codes, digests);
    const result = await resultOf(job, key, needed.has(job.id), options);
    if (!result) continue;
    if (result.digest !== undefined) digests.set(job.id, result.digest);
    const file = fileOf(plan, job);
    const lines = files.get(file) ?? [];
    files.set(file, lines);
    lines.push({ key, ...result });
    finished++;
  }
  for (const [file, lines] of files) {
    await writePublished(options.folder, `${options.name}-${file}`, lines);
  }
  return { total: plan.jobs.length, finished };
}

/** The part of a job's result to publish: its digest if another job needs it, its value if the report shows it. */
async function resultOf(
  { kind }: PlannedJob,
  key: string,
  isNeeded: boolean,
  { store, published }: PublishOptions,
): Promise<PublishedResult | undefined> {
  const digest = await store.find(key);
  if (digest === undefined) {
    const known = published?.find(key);
    return isNeeded && known?.digest === undefined ? undefined : known;
  }
  return {
    ...(isNeeded && { digest }),
    ...(!INTERNAL_KINDS.includes(kind) && {
      value: packValue(kind, shownValue(kind, (await store.get(key)).value)),
    }),
  };
}

/** `run-01` for the first run, `all-runs` for jobs that all runs share. */
function fileOf(plan: Plan, job: PlannedJob): string {
  const run = runOf(job.spec) ?? job.needs.map((id) => runOf(plan.find(id).spec)).find(isNumber);
  return run === undefined ? "all-runs" : `run-${String(run + 1).padStart(2, "0")}`;
}

/** The number of the run in a spec, at any depth. */
function runOf(spec: unknown): number | undefined {
  if (typeof spec !== "object" || spec === null) return undefined;
  if ("run" in spec && isNumber(spec.run)) return spec.run;
  return Object.values(spec).map(runOf).find(isNumber);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
