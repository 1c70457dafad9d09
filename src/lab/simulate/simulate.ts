import { join } from "node:path";
import { createPolicy } from "../../core/bandit/options.ts";
import { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import { splitOf } from "../data/groups.ts";
import { checkPolicy } from "../policies/policy-shape.ts";
import { contenderOf, type PolicySpec, refusing } from "../policies/policy-spec.ts";
import { createEnvironment } from "./environment.ts";
import { Journal, type World } from "./journal.ts";
import { summarize } from "./regret.ts";
import type { Result } from "./result.ts";
import type { Run } from "./run.ts";
import { RunFailed } from "./run-failed.ts";
import type { Settings } from "./settings.ts";
import type { Source } from "./source.ts";
import { type Runs, runSweep, type SweepOptions } from "./sweep.ts";

export interface Simulation {
  readonly source: Source;
  readonly policies: readonly PolicySpec[];
  readonly settings: Settings;
  /** Of the program, for the record. */
  readonly version: string;
  /** Its fingerprint: runs of another one are not gone on with. */
  readonly code: string;
}

export interface SimulateOptions extends Pick<SweepOptions, "threads" | "onProgress" | "signal"> {
  /** A folder that keeps the finished runs. */
  readonly out?: string | undefined;
  /** Go on with the runs kept there, or begin anew over them; otherwise there must be none. */
  readonly resume?: boolean | undefined;
  readonly overwrite?: boolean | undefined;
}

export interface Simulated {
  /** Of the runs that every policy has finished; undefined if there is none. */
  readonly result: Result | undefined;
  readonly interrupted: boolean;
  /** How many runs are finished, of all policies together. */
  readonly finished: number;
}

const RUNS = "runs.jsonl";

/** A whole comparison: check, sweep, summary. */
export async function simulate(
  simulation: Simulation,
  options: SimulateOptions,
): Promise<Simulated> {
  const { source, policies, settings } = simulation;
  await tryPolicies(simulation);
  const world = worldOf(simulation);
  const journal = options.out === undefined ? undefined : await openJournal(world, options);
  const runs = await runSweep(
    { ...source, policies, settings },
    {
      ...options,
      known: ({ policy, run }) => journal?.find(policies[policy]!, run),
      onRun: ({ policy, run }, result) => journal?.add(policies[policy]!, run, result),
    },
  ).catch((error: unknown) => {
    throw error instanceof RunFailed ? error.explained(keptIn(options.out)) : error;
  });
  const complete = completeRuns(runs);
  const interrupted = complete.length < settings.runs;
  return {
    result: complete.length > 0 ? resultOf(simulation, world, runs, complete) : undefined,
    interrupted,
    finished: runs.flat().filter(Boolean).length,
  };
}

function keptIn(out: string | undefined): string {
  return out === undefined
    ? "no run is kept: add --out DIR to keep those that finish"
    : `finished runs are kept in ${join(out, RUNS)}: the same command with --resume goes on`;
}

function openJournal(world: World, options: SimulateOptions): Promise<Journal> {
  const file = join(options.out!, RUNS);
  if (options.resume) return Journal.resume(file, world);
  return options.overwrite ? Journal.overwrite(file, world) : Journal.create(file, world);
}

/** Makes each policy once, so that an option's bad value is refused before hours of work. */
async function tryPolicies({ source, policies, settings }: Simulation): Promise<void> {
  const random = Random.seeded(settings.seed).split(0).split("environment");
  const once = { ...settings, rounds: 1 };
  const { pool, hindsight } = createEnvironment(source.dataset, source.embeddings, once, random);
  for (const spec of policies) {
    const { kind, options } = await contenderOf(spec);
    const make = () => createPolicy(kind, pool, options, hindsight);
    checkPolicy(spec.name, refusing(spec, make));
  }
}

function worldOf({ source, settings, version, code }: Simulation): World {
  const { runs, ...world } = settings;
  return { ...source.record, ...world, version, code };
}

/** The runs that all policies have finished: only they can be compared pair by pair. */
export function completeRuns(runs: Runs): number[] {
  return [...(runs[0] ?? []).keys()].filter((run) => runs.every((row) => row[run]));
}

function resultOf(
  { source, policies, settings }: Simulation,
  world: World,
  runs: Runs,
  complete: readonly number[],
): Result {
  const interrupted = complete.length < settings.runs;
  return {
    schema: 1,
    settings: {
      ...world,
      ...smallCategories(source.dataset, settings),
      runs: complete.length,
      // Not the first so many where threads were stopped at different points.
      ...(interrupted && { interrupted: { of: settings.runs, complete } }),
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

/** Where not every category has `offline` queries set aside, how many each has. */
function smallCategories(dataset: Dataset, { offline }: Settings): Record<string, unknown> {
  const split = splitOf(dataset, offline);
  const alone = split
    .filter(({ queries, offline }) => queries === offline)
    .map(({ category }) => category);
  return {
    ...(split.some((one) => one.offline < offline) && {
      offlineByCategory: Object.fromEntries(split.map((one) => [one.category, one.offline])),
    }),
    ...(alone.length > 0 && { neverStreamed: alone }),
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
