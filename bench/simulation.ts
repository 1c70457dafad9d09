import { BUGS } from "../test/simulation/bugs.ts";
import { Database } from "../test/simulation/database.ts";
import { simulate } from "../test/simulation/simulation.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";

/** Seeds that a run uses if it is not told how many. */
const SEEDS = 1000;
/** Seeds after which a planted bug counts as not found. */
const MOST_SEEDS = 10_000;

/**
 * Simulates clusters with faults, one per seed, and stops at the first seed that shows a failure: it
 * prints the trace of the seed, which --seed prints again. A run that a signal stops says where to
 * continue. With "bugs", it counts the seeds that it
 * takes to find each planted bug instead.
 */
export async function simulation(
  names: readonly string[],
  { seed, seeds = SEEDS, from = 1 }: BenchFlags,
): Promise<BenchResult> {
  // Thousands of expected errors are created, and their stack traces are never read.
  Error.stackTraceLimit = 0;
  const database = new Database();
  try {
    if (names.includes("bugs")) return { ratios: {}, figures: await seedsPerBug(database) };
    if (seed !== undefined) return await showSeed(seed, database);
    return await runSeeds(from, seeds, database);
  } finally {
    await database.close();
  }
}

async function showSeed(seed: number, database: Database): Promise<BenchResult> {
  const { trace, failures, steps, virtualMs, votes } = await simulate(seed, database, {
    isTraced: true,
  });
  for (const line of trace) console.log(line);
  if (failures.length > 0) {
    throw new Error(`seed ${seed}: ${failures.join("; ")}; see it again with --seed ${seed}`);
  }
  return { ratios: {}, figures: { steps, "virtual ms": virtualMs, "acknowledged votes": votes } };
}

async function runSeeds(from: number, count: number, database: Database): Promise<BenchResult> {
  const sums = { seeds: 0, steps: 0, "virtual seconds": 0, "acknowledged votes": 0 };
  let isStopped = false;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      isStopped = true;
    });
  }
  for (let seed = from; seed < from + count && !isStopped; seed++) {
    const { failures, steps, virtualMs, votes } = await simulate(seed, database);
    if (failures.length > 0) await showSeed(seed, database);
    sums.seeds++;
    sums.steps += steps;
    sums["virtual seconds"] += virtualMs / 1000;
    sums["acknowledged votes"] += votes;
    if (sums.seeds % 1000 === 0 || isStopped) {
      process.stderr.write(`${sums.seeds} seeds; continue with --from ${seed + 1}\n`);
    }
  }
  return { ratios: { failures: 0 }, figures: sums };
}

async function seedsPerBug(database: Database): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const bug of BUGS) {
    for (let seed = 1; figures[bug] === undefined; seed++) {
      if (seed > MOST_SEEDS) throw new Error(`${MOST_SEEDS} seeds did not find the ${bug}`);
      const { failures } = await simulate(seed, database, { bug });
      if (failures.length > 0) figures[bug] = seed;
    }
  }
  return figures;
}
