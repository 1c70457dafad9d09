import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { PolicySpec } from "../src/lab/policies/policy-spec.ts";
import { codeFingerprint } from "../src/lab/simulate/fingerprint.ts";
import { Journal } from "../src/lab/simulate/journal.ts";
import type { Run } from "../src/lab/simulate/run.ts";
import type { Settings } from "../src/lab/simulate/settings.ts";
import { runSweep } from "../src/lab/simulate/sweep.ts";
import type { World } from "./worlds.ts";

/**
 * Runs policies in one cell of a table on all cores. What is finished is kept
 * under out/bench, so that a long bench goes on where it was interrupted.
 */
export async function runCell(
  label: string,
  world: World,
  settings: Settings,
  policies: readonly PolicySpec[],
): Promise<Run[][]> {
  const { dataset, embeddings, record } = world.source;
  const file = resolve(import.meta.dirname, `../out/bench/${label}.jsonl`);
  const journal = await Journal.resume(file, { settings, record, code: codeFingerprint() });
  const start = performance.now();
  const runs = await runSweep(
    { dataset, embeddings, policies, settings },
    {
      threads: availableParallelism(),
      known: ({ policy, run }) => journal.find(policies[policy]!, run),
      onRun: ({ policy, run }, result) => journal.add(policies[policy]!, run, result),
    },
  );
  process.stderr.write(`${label}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  return runs.map((row) => row.map((run) => run!));
}
