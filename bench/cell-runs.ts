import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { PolicySpec } from "../src/core/policy-spec/policy-spec.ts";
import { Journal } from "../src/lab/simulate/journal.ts";
import type { Run } from "../src/lab/simulate/run.ts";
import { runCode, runPolicies } from "../src/lab/simulate/runs.ts";
import type { Settings } from "../src/lab/simulate/settings.ts";
import type { BenchDataset } from "./datasets.ts";

/**
 * Runs policies in one cell of a table on all cores. Finished runs are kept under
 * out/bench, so that an interrupted benchmark continues.
 */
export async function runCell(
  label: string,
  { source }: BenchDataset,
  settings: Settings,
  policies: readonly PolicySpec[],
): Promise<Run[][]> {
  const file = resolve(import.meta.dirname, `../out/bench/${label}.jsonl`);
  const { record, content } = source;
  const journal = await Journal.resume(file, { settings, record, code: runCode(), content });
  const start = performance.now();
  const threads = availableParallelism();
  const runs = await runPolicies({ ...source, policies, settings }, { threads, journal });
  process.stderr.write(`${label}: ${((performance.now() - start) / 1000).toFixed(0)} s\n`);
  return runs.map((row) => row.map((run) => run!));
}
