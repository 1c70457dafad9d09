import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BenchResult } from "./main.ts";
import { pythonWith } from "./python.ts";
import { serve } from "./served.ts";

const run = promisify(execFile);

const KEY = "key-of-the-bench-alone";
/** Streams that never end by themselves. */
const ENDLESS = "/v1/events";

/**
 * Python's clients against the sandbox: OpenAI's own does what it does with
 * OpenAI, and schemathesis sends what openapi.json allows and what it does not,
 * to which no answer may be a 5xx.
 */
export async function clients(): Promise<BenchResult> {
  const python = await pythonWith(
    "bench-clients",
    ["openai", "schemathesis"],
    "import openai, schemathesis",
  );
  if (!python) return { ratios: {}, figures: {} };
  const folder = await mkdtemp(join(tmpdir(), "joust-clients-"));
  // With a key from the start: the first that is made by chance would lock all others out.
  const keys = `keys: {bench: {key: ${KEY}, scopes: [route, vote, admin]}}\n`;
  await writeFile(join(folder, "joust.yaml"), `sandbox: {speed: 1000}\n${keys}`);
  const gateway = await serve(folder);
  try {
    const script = fileURLToPath(new URL("./clients.py", import.meta.url));
    const { stdout } = await run(python, [script, gateway.url, KEY]);
    const done = Object.entries(JSON.parse(stdout) as Record<string, string>);
    for (const [name, said] of done) process.stderr.write(`openai ${name}: ${said}\n`);
    const failed = done.filter(([, said]) => said !== "ok").length;
    const fuzzed = await fuzz(join(dirname(python), "schemathesis"), gateway.url, folder);
    process.stderr.write(`${fuzzed.said}\n`);
    return {
      ratios: { "openai checks failed": failed, "schemathesis failed": Number(fuzzed.failed) },
      figures: { "openai checks": done.length },
    };
  } finally {
    await gateway.end("SIGTERM");
    await rm(folder, { recursive: true, force: true });
  }
}

/** It leaves notes of its own in `cwd`. */
async function fuzz(
  program: string,
  url: string,
  cwd: string,
): Promise<{ failed: boolean; said: string }> {
  const args = [
    "run",
    `${url}/openapi.json`,
    ...["--checks", "not_a_server_error"],
    ...["--header", `Authorization: Bearer ${KEY}`],
    ...["--exclude-path", ENDLESS],
    ...["--max-examples", "60"],
    ...["--request-timeout", "20"],
    ...["--seed", "1"],
    "--no-color",
  ];
  try {
    const { stdout } = await run(program, args, { cwd, maxBuffer: 2 ** 26 });
    return { failed: false, said: stdout.slice(-1500) };
  } catch (error) {
    const { stdout = String(error) } = error as { stdout?: string };
    return { failed: true, said: stdout.slice(-6000) };
  }
}
