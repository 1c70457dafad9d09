import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BenchResult } from "./main.ts";
import { pythonWithSentenceTransformers } from "./python.ts";
import { staticFitSpeed } from "./static-speed.ts";

const SHARED = resolve(import.meta.dirname, "../../shared");
const OFFLINE = join(SHARED, "fixtures/ccft/offline.jsonl");
const ARGUMENTS = [
  join(SHARED, "models/all-MiniLM-L6-v2"),
  OFFLINE,
  join(SHARED, "fixtures/ccft/trajectory.json"),
];

interface Run {
  readonly seconds: number;
  /** Of all threads, which tells more than time where the machine is shared. */
  readonly cpu: number;
  readonly losses: readonly number[];
  /** Bytes. */
  readonly peak: number;
}

/** The golden run's 36 steps of MiniLM, here and in PyTorch, one after the other on the same machine. */
export async function fit(): Promise<BenchResult> {
  for (const path of ARGUMENTS) {
    if (!existsSync(path)) throw new Error(`${path} is missing: this bench needs ../shared`);
  }
  const ours = await measure("Joust", process.execPath, import.meta.resolve("./ccft.ts"));
  const figures: Record<string, number> = {
    ...figuresOf("Joust", ours),
    ...(await staticFitSpeed(OFFLINE)),
  };
  const python = await pythonWithSentenceTransformers();
  if (python === undefined) return { ratios: {}, figures };
  const theirs = await measure("PyTorch", python, import.meta.resolve("./ccft.py"));
  Object.assign(figures, figuresOf("PyTorch", theirs));
  const off = ours.losses.map((loss, step) => Math.abs(loss / theirs.losses[step]! - 1));
  return {
    ratios: {
      "MiniLM CCFT: time / PyTorch's": ours.seconds / theirs.seconds,
      "MiniLM CCFT: CPU time / PyTorch's": ours.cpu / theirs.cpu,
      "MiniLM CCFT: peak memory / PyTorch's": ours.peak / theirs.peak,
      "MiniLM CCFT: largest difference of a loss": Math.max(...off),
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
