import { readFile } from "node:fs/promises";
import { Random } from "../src/core/random/random.ts";
import type { ReproduceRecord } from "../src/lab/reproduce/record.ts";
import { type ClaimVerdict, judgeParts, type Part } from "../src/lab/reproduce/verdict.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";

const FILE = "experiments/expected/full/reproduce.json";
const WORLDS = 400;
const RUNS = [20, 50, 100];
/** Fewer runs say too little about how much runs differ. */
const FEWEST = 5;

/**
 * How likely each open claim is decided by more runs. In every simulated world, the runs of a
 * record have random weights (the Bayesian bootstrap), which say how common such runs are. Runs
 * are then drawn from them, the same in all cells of a claim, and judged like real ones.
 */
export async function moreRuns(names: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const { claims } = JSON.parse(await readFile(names[0] ?? FILE, "utf8")) as ReproduceRecord;
  const figures: Record<string, number> = {};
  for (const { id, enough, parts, verdict, standIn } of claims) {
    const counts = parts.flatMap(({ cells }) => cells.map(({ runs }) => runs.length));
    if ((standIn?.verdict ?? verdict) !== "open" || Math.min(...counts) < FEWEST) continue;
    for (const runs of RUNS) {
      const shares = sharesOf(parts as readonly Part[], enough, runs, flags.rounds ?? WORLDS);
      for (const one of ["holds", "refuted"] as const) {
        figures[`claim ${id}: ${one} with ${runs} runs`] = shares(one);
      }
    }
  }
  return { ratios: {}, figures };
}

/** Share of the worlds with a verdict. */
function sharesOf(
  parts: readonly Part[],
  enough: "every" | "some",
  runs: number,
  worlds: number,
): (verdict: ClaimVerdict) => number {
  const verdicts = Array.from({ length: worlds }, (_, world) => {
    const drawn = drawnRuns(Random.seeded(1).split(world), runs);
    const simulated = parts.map((part) => ({
      ...part,
      cells: part.cells.map((cell) => ({ ...cell, runs: drawn(cell.runs) })),
    }));
    return judgeParts(simulated, { enough }).verdict;
  });
  return (wanted) => verdicts.filter((verdict) => verdict === wanted).length / worlds;
}

/** Draws runs with the random weights of a world. Cells with as many runs get the same ones. */
function drawnRuns(random: Random, count: number): (runs: readonly number[]) => number[] {
  const drawn = new Map<number, readonly number[]>();
  return (runs) => {
    let indices = drawn.get(runs.length);
    if (!indices) {
      const logWeights = runs.map(() => -random.gumbel());
      indices = Array.from({ length: count }, () => {
        const keys = logWeights.map((logWeight) => logWeight + random.gumbel());
        return keys.indexOf(Math.max(...keys));
      });
      drawn.set(runs.length, indices);
    }
    return indices.map((i) => runs[i]!);
  };
}
