/** One run of one policy as a job. Its cache key covers this module, all it imports, and the policy. */

import type { Contender } from "../../core/policy-spec/policy-spec.ts";
import { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Context, Result } from "../jobs/job.ts";
import { createEnvironment } from "./environment.ts";
import { unpack } from "./matrix.ts";
import { runPolicy } from "./run.ts";
import type { Settings } from "./settings.ts";

/** Data that all runs share. */
export interface SharedData {
  readonly dataset: Dataset;
  /** The embeddings of the queries, row after row. */
  readonly matrix: Float64Array;
  /** URLs of the user's policy files by the hash of their code. */
  readonly modules: Readonly<Record<string, string>>;
}

export interface RunSpec {
  /** SHA-256 of the data set and its embeddings. */
  readonly content: string;
  readonly settings: Omit<Settings, "runs">;
  readonly policy: Pick<Contender, "options" | "router"> & {
    readonly kind: string;
    /** Hash of the code of a policy in a file of the user. */
    readonly code?: string | undefined;
  };
  readonly run: number;
}

/** All policies meet the same environment and the same voters in run `run`. */
export async function runJob(
  { settings, run }: RunSpec,
  contender: Contender,
  context: Context,
): Promise<Result> {
  const { dataset, matrix } = context.shared as SharedData;
  const embeddings = unpack(matrix, dataset.queries.length);
  const all: Settings = { ...settings, runs: 1 };
  const random = Random.seeded(settings.seed).split(run);
  const environment = createEnvironment(dataset, embeddings, all, random.split("environment"));
  const onRound = (t: number) => context.check(t / settings.rounds);
  return { value: runPolicy(environment, contender, all, random.split("policy"), onRound) };
}
