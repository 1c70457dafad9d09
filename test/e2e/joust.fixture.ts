import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import type { Result } from "../../src/lab/simulate/result.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

/** The environment without the variable by which the test runner asks for colours. */
const { FORCE_COLOR: _, ...PLAIN } = process.env;

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the real program as a process; `node` are arguments of Node itself, `variables` are added to the environment. */
export function start(
  args: readonly string[],
  cwd = ROOT,
  node: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): ChildProcess & { end: Promise<Finished> } {
  const child = spawn(process.execPath, [...node, join(ROOT, "bin/joust.js"), ...args], {
    cwd,
    env: { ...PLAIN, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (piece: string) => {
      text[name] += piece;
    });
  }
  const end = new Promise<Finished>((finish, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => finish({ code, signal, ...text }));
  });
  return Object.assign(child, { end });
}

export function joust(...args: string[]): Promise<Finished> {
  return start(args).end;
}

/** A folder that is deleted after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-e2e-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A result without the measured times, which differ between processes. */
export function withoutTimes(text: string): Result {
  const result = JSON.parse(text) as Result;
  const none = { p50: 0, p99: 0 };
  const policies = Object.entries(result.policies).map(([name, policy]) => [
    name,
    { ...policy, decisionMicros: none, updateMicros: none },
  ]);
  return { ...result, policies: Object.fromEntries(policies) };
}
