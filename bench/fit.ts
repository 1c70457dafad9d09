import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BenchResult } from "./bench.ts";
import { sharedFile } from "./datasets.ts";
import { pythonWithSentenceTransformers } from "./python.ts";
import { staticFitSpeed } from "./static-speed.ts";

const OFFLINE = sharedFile("fixtures/ccft/offline.jsonl");
const ARGUMENTS = [
  sharedFile("models/all-MiniLM-L6-v2"),
  OFFLINE,
  sharedFile("fixtures/ccft/trajectory.json"),
];

interface Run {
  readonly seconds: number;
  /** CPU seconds of all threads, which other processes hardly change. */
  readonly cpu: number;
  readonly losses: readonly number[];
  /** Peak memory in bytes. */
  readonly peak: number;
}

/** Trains MiniLM for the 36 steps of the reference run, in Joust and then in PyTorch. */
export async function fit(): Promise<BenchResult> {
  const ours = await measure("Joust", process.execPath, import.meta.resolve("./fine-tune.ts"));
  const figures: Record<string, number> = {
    ...figuresOf("Joust", ours),
    ...(await staticFitSpeed(OFFLINE)),
  };
  const python = await pythonWithSentenceTransformers();
  if (python === undefined) return { ratios: {}, figures };
  const theirs = await measure("PyTorch", python, import.meta.resolve("./fine-tune.py"));
  Object.assign(figures, figuresOf("PyTorch", theirs));
  const off = ours.losses.map((loss, step) => Math.abs(loss / theirs.losses[step]! - 1));
  return {
    ratios: {
      "MiniLM CCFT: time / PyTorch's": ours.seconds / theirs.seconds,
      "MiniLM CCFT: CPU time / PyTorch's": ours.cpu / theirs.cpu,
      "MiniLM CCFT: peak memory / PyTorch's": ours.peak / theirs.peak,
      "MiniLM CCFT: largest relative difference of a loss": Math.max(...off),
    },
    figures,
  };
}

async function measure(name: string, program: string, script: string): Promise<Run> {
  process.stderr.write(`${name}: 36 steps of MiniLM\n`);
  const { stdout } = await promisify(execFile)(program, [fileURLToPath(script), ...ARGUMENTS]);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Run;
}

function figuresOf(name: string, { seconds, cpu, peak }: Run): Record<string, number> {
  return {
    [`${name}: seconds`]: seconds,
    [`${name}: seconds of CPU`]: cpu,
    [`${name}: peak MB`]: peak / 1e6,
  };
}
