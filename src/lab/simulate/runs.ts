import { moduleUrl } from "../../core/input/project.ts";
import type { PolicySpec } from "../../core/policy-spec/policy-spec.ts";
import { CodeHashes } from "../jobs/code.ts";
import type { JobId } from "../jobs/job.ts";
import { Plan } from "../jobs/plan.ts";
import type { ProgressReport } from "../jobs/progress.ts";
import { runPlan } from "../jobs/run-plan.ts";
import { Threads } from "../jobs/threads.ts";
import type { Journal } from "./journal.ts";
import KINDS, { RUN_MODULE } from "./kinds.ts";
import { pack } from "./matrix.ts";
import type { Run } from "./run.ts";
import type { RunSpec, SharedData } from "./run-job.ts";
import type { Settings } from "./settings.ts";
import type { Source } from "./source.ts";

/** Policies to compare. Run r is the same environment for all of them, so runs can be paired. */
export interface Comparison extends Pick<Source, "dataset" | "embeddings" | "content"> {
  readonly policies: readonly PolicySpec[];
  readonly settings: Settings;
}

/** runs[p][r] is run r of policy p; undefined if it is not finished. */
export type Runs = readonly (readonly (Run | undefined)[])[];

export interface RunsProgress extends Omit<ProgressReport, "running"> {
  readonly runs: Runs;
}

export interface RunsOptions {
  readonly threads: number;
  /** Keeps the runs. Runs that it holds already are not repeated. */
  readonly journal: Journal;
  readonly onProgress?: ((progress: RunsProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs every policy in worker threads. A run depends on the data, the settings, the
 * policy and its number alone, not on the threads. Returns what is finished when the
 * signal comes.
 */
export async function runPolicies(comparison: Comparison, options: RunsOptions): Promise<Runs> {
  const { policies, settings } = comparison;
  const { threads, journal, onProgress, signal } = options;
  const { plan, jobs, shared } = planRuns(comparison);
  const runs = policies.map(() => new Array<Run | undefined>(settings.runs).fill(undefined));
  const workers = new Threads({
    threads,
    kinds: KINDS_URL,
    shared,
    foreign: true,
    resourceLimits: LIMITS,
  });
  try {
    await runPlan(plan, {
      kinds: KINDS,
      store: journal,
      workers,
      signal,
      onDone: ({ id }, key) => {
        for (const { policy, run } of jobs.get(id)!) runs[policy]![run] = journal.run(key);
      },
      onProgress: onProgress && ((report) => onProgress({ ...report, runs })),
    });
  } finally {
    await workers.close();
  }
  return runs;
}

/** Plans the jobs of run 0 for all policies, then those of run 1, so that finished runs can be compared early. */
function planRuns({ dataset, embeddings, content, policies, settings }: Comparison) {
  const { runs, ...rest } = settings;
  const matrix = pack(embeddings);
  const codes = new CodeHashes();
  const modules: Record<string, string> = {};
  const contenders = policies.map(({ kind, options, router, module }) => {
    const code = module && codes.of([new URL(module.url)]);
    if (code) modules[code] = module.url;
    return { kind, options, router, ...(code && { code }) };
  });
  const plan = new Plan();
  const jobs = new Map<JobId, { readonly policy: number; readonly run: number }[]>();
  for (let run = 0; run < runs; run++) {
    for (const [p, policy] of contenders.entries()) {
      const spec: RunSpec = { content, settings: rest, policy, run };
      const label = `${policies[p]!.name}, run ${run}`;
      const pace = policies[p]!.name;
      const id = plan.add("run", spec, { label, seconds: 1, pace });
      // Two names may stand for the same policy.
      jobs.set(id, [...(jobs.get(id) ?? []), { policy: p, run }]);
    }
  }
  return { plan, jobs, shared: { dataset, matrix, modules } satisfies SharedData };
}

/** Hash of the code that all runs share. Each policy's own code counts for its own runs. */
export function runCode(): string {
  return new CodeHashes().of([RUN_MODULE]);
}

const KINDS_URL = moduleUrl(new URL("./kinds.ts", import.meta.url));

/** A small young generation halves the memory of a thread and is no slower at 1e5 rounds of joust. */
const LIMITS = { maxYoungGenerationSizeMb: 8 };
