import { join } from "node:path";
import { createPolicy } from "../../core/bandit/options.ts";
import { hintOf } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import { describeThrown } from "../../core/policy-spec/load-policy.ts";
import { checkPolicy } from "../../core/policy-spec/policy-shape.ts";
import { contenderOf, type PolicySpec, refusing } from "../../core/policy-spec/policy-spec.ts";
import { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import { splitOf } from "../data/groups.ts";
import { JobFailed } from "../jobs/run-plan.ts";
import { createEnvironment } from "./environment.ts";
import { type Conditions, Journal } from "./journal.ts";
import { summarize } from "./regret.ts";
import type { Result } from "./result.ts";
import type { Run } from "./run.ts";
import { type Runs, type RunsOptions, runCode, runPolicies } from "./runs.ts";
import type { Settings } from "./settings.ts";
import type { Source } from "./source.ts";

export interface Simulation {
  readonly source: Source;
  readonly policies: readonly PolicySpec[];
  readonly settings: Settings;
  /** Version of the program, for the record. */
  readonly version: string;
}

export interface SimulateOptions extends Omit<RunsOptions, "journal"> {
  /** A folder that keeps the finished runs. */
  readonly out?: string | undefined;
  /**
   * `resume` keeps the runs in the folder and runs the rest; `overwrite` starts again. Without either,
   * the folder must not hold finished runs.
   */
  readonly resume?: boolean | undefined;
  readonly overwrite?: boolean | undefined;
}

export interface Simulated {
  /** Summary of the runs that every policy has finished; undefined if there is none. */
  readonly result: Result | undefined;
  readonly interrupted: boolean;
  /** Number of finished runs of all policies together. */
  readonly finished: number;
}

const RUNS = "runs.jsonl";

/** A whole comparison: check the policies, run them, summarize the runs. */
export async function simulate(
  simulation: Simulation,
  options: SimulateOptions,
): Promise<Simulated> {
  const { source, policies, settings } = simulation;
  await checkPolicies(simulation);
  const code = runCode();
  const journal = await openJournal(simulation, code, options);
  const runs = await runPolicies({ ...source, policies, settings }, { ...options, journal }).catch(
    (error: unknown) => {
      throw error instanceof JobFailed ? failureOf(error, policies, options.out) : error;
    },
  );
  const complete = completeRuns(runs);
  return {
    result: complete.length > 0 ? resultOf(simulation, code, runs, complete) : undefined,
    interrupted: complete.length < settings.runs,
    finished: runs.flat().filter(Boolean).length,
  };
}

/** Creates each policy once, so that a bad option is refused before hours of work. */
async function checkPolicies({ source, policies, settings }: Simulation): Promise<void> {
  const random = Random.seeded(settings.seed).split(0).split("environment");
  const once = { ...settings, rounds: 1 };
  const { pool, hindsight } = createEnvironment(source.dataset, source.embeddings, once, random);
  for (const spec of policies) {
    const { kind, options } = await contenderOf(spec);
    const make = () => createPolicy(kind, pool, options, hindsight);
    checkPolicy(spec.name, refusing(spec, make));
  }
}

async function openJournal(
  { source, settings }: Simulation,
  code: string,
  { out, resume, overwrite }: SimulateOptions,
): Promise<Journal> {
  if (out === undefined) return Journal.inMemory();
  const { runs, ...rest } = settings;
  const conditions: Conditions = { ...source.record, ...rest, code, content: source.content };
  const file = join(out, RUNS);
  if (resume) return Journal.resume(file, conditions);
  return overwrite ? Journal.overwrite(file, conditions) : Journal.create(file, conditions);
}

/** A failure of the user's own policy is an InputError; any other is a defect of this program. */
function failureOf(
  { job, cause }: JobFailed,
  policies: readonly PolicySpec[],
  out?: string,
): Error {
  const kept =
    out === undefined
      ? "no run is kept: add --out DIR to keep those that finish"
      : `finished runs are kept in ${join(out, RUNS)}: the same command with --resume continues`;
  const name = job.pace!;
  if (!policies.find((policy) => policy.name === name)!.module) {
    return new Error(`${job.label} failed; ${kept}`, { cause });
  }
  const run = job.label.slice(name.length + 2);
  return new InputError(
    { file: `--policies ${name}` },
    `failed in ${run}: ${describeThrown(cause)}`,
    `${hintOf(cause) ?? "correct it"}; ${kept}`,
  );
}

/** The runs that all policies have finished. Only these can be compared pair by pair. */
export function completeRuns(runs: Runs): number[] {
  return [...(runs[0] ?? []).keys()].filter((run) => runs.every((row) => row[run]));
}

function resultOf(
  { source, policies, settings, version }: Simulation,
  code: string,
  runs: Runs,
  complete: readonly number[],
): Result {
  const { runs: wanted, ...rest } = settings;
  return {
    schema: 1,
    settings: {
      ...source.record,
      ...rest,
      version,
      code,
      ...smallCategories(source.dataset, settings),
      runs: complete.length,
      // Threads stop at different points, so these need not be the first runs.
      ...(complete.length < wanted && { interrupted: { of: wanted, complete } }),
      policies: Object.fromEntries(policies.map((spec) => [spec.name, recordOf(spec)])),
    },
    policies: Object.fromEntries(
      policies.map(({ name }, p) => {
        const own = complete.map((run) => runs[p]![run] as Run);
        return [name, summarize(own, settings.rounds)];
      }),
    ),
  };
}

/** If some categories have fewer than `offline` queries set aside, the number for each. */
function smallCategories(dataset: Dataset, { offline }: Settings): Record<string, unknown> {
  const split = splitOf(dataset, offline);
  const neverStreamed = split.filter((one) => one.queries === one.offline);
  return {
    ...(split.some((one) => one.offline < offline) && {
      offlineByCategory: Object.fromEntries(split.map((one) => [one.category, one.offline])),
    }),
    ...(neverStreamed.length > 0 && {
      neverStreamed: neverStreamed.map(({ category }) => category),
    }),
  };
}

function recordOf({ kind, options, router, module }: PolicySpec): Record<string, unknown> {
  return {
    kind,
    options,
    ...(Object.keys(router).length > 0 && { router }),
    ...(module && { sha256: module.sha256 }),
  };
}
