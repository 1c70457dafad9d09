import type { JobId, Workers } from "../jobs/job.ts";
import type { ProgressReport } from "../jobs/progress.ts";
import { runPlan } from "../jobs/run-plan.ts";
import type { Store } from "../jobs/store.ts";
import { type Bench, Bench as NewBench, type Size } from "./bench.ts";
import type { DataSets } from "./data-sets.ts";
import type { FoundEncoders } from "./encoders.ts";
import type { Claim, Experiment, Finding, Planned, Suite } from "./experiment.ts";
import { Results } from "./results.ts";
import { untestable } from "./verdict.ts";
import KINDS from "./work/kinds.ts";

export interface Reproduction {
  readonly bench: Bench;
  readonly parts: readonly Part[];
  readonly claims: readonly Claim[];
}

/** An experiment, planned. */
interface Part extends Planned {
  readonly experiment: Experiment;
}

/** Plans all experiments: what there is to do, and what it will show. */
export async function planReproduction(
  suite: Suite,
  names: readonly string[],
  {
    data,
    encoders,
    size,
    seed,
  }: { data: DataSets; encoders: FoundEncoders; size: Size; seed: number },
): Promise<Reproduction> {
  const bench = new NewBench(data, encoders.here, size, seed);
  const parts: Part[] = [];
  for (const experiment of suite.experiments) {
    if (!names.includes(experiment.name)) continue;
    parts.push({ experiment, ...(await experiment.plan(bench)) });
  }
  return { bench, parts, claims: suite.claims };
}

export interface JudgedClaim extends Finding {
  readonly claim: Claim;
}

export interface Reproduced extends Reproduction {
  readonly results: Results;
  readonly judged: readonly JudgedClaim[];
}

export interface ReproduceOptions {
  readonly store: Store;
  readonly workers: Workers;
  readonly onProgress?: ((report: ProgressReport) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Does what is not done yet and judges the claims; undefined where it was stopped. */
export async function reproduce(
  reproduction: Reproduction,
  options: ReproduceOptions,
): Promise<Reproduced | undefined> {
  const { bench, claims, parts } = reproduction;
  const keys = await runPlan(bench.plan, { kinds: KINDS, ...options });
  if (!keys) return undefined;
  const values = new Map<JobId, unknown>();
  for (const { id, kind } of bench.plan.jobs) {
    // Vectors are for runs alone.
    if (kind === "embed" || kind === "fit") continue;
    values.set(id, (await options.store.get(keys.get(id)!)).value);
  }
  const results = new Results(bench, values);
  const done = parts
    .filter(({ exhibits }) => exhibits.length > 0)
    .map((part) => part.experiment.name);
  const judged = claims.map((claim) => ({ claim, ...findingOf(claim, results, done) }));
  return { ...reproduction, results, judged };
}

function findingOf(claim: Claim, results: Results, done: readonly string[]): Finding {
  const lacking = claim.needs.filter((name) => !done.includes(name));
  if (lacking.length === 0) return claim.test(results);
  return untestable(`${lacking.join(" and ")} was not run`);
}
