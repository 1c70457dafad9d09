import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { withGateway } from "./gateway-process.ts";
import { pythonWith } from "./python.ts";

const run = promisify(execFile);

const KEY = "key-of-the-bench-alone";
/** Responses must have a documented status, content type and body, and never be a 5xx. */
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
  "unsupported_method",
];
/** Requests that schemathesis generates per endpoint and phase, unless `--rounds` says otherwise. */
const EXAMPLES = 60;
/** A stream that never ends. */
const ENDLESS = "/v1/events";

/**
 * Runs schemathesis against the sandbox, with valid and invalid requests from openapi.json, whose responses must be
 * as documented.
 */
export async function openapi(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const python = await pythonWith("bench-openapi", ["schemathesis"], "import schemathesis");
  if (!python) return { ratios: {}, figures: {} };
  // A key exists from the start, because the first key that schemathesis creates would lock everybody out.
  const keys = `keys: {bench: {key: ${KEY}, scopes: [route, vote, admin]}}\n`;
  return withGateway(`sandbox: {speed: 1000}\n${keys}`, async ({ url }, folder) => {
    const program = join(dirname(python), "schemathesis");
    const fuzzed = await fuzz(program, url, folder, flags.rounds ?? EXAMPLES);
    process.stderr.write(`${fuzzed.output}\n`);
    return { ratios: { "schemathesis failed": Number(fuzzed.failed) }, figures: {} };
  });
}

/** Runs schemathesis, which writes its own files into `cwd`. */
async function fuzz(
  program: string,
  url: string,
  cwd: string,
  examples: number,
): Promise<{ failed: boolean; output: string }> {
  const args = [
    "run",
    `${url}/openapi.json`,
    ...["--checks", CHECKS.join(",")],
    ...["--header", `Authorization: Bearer ${KEY}`],
    ...["--exclude-path", ENDLESS],
    ...["--max-examples", String(examples)],
    ...["--request-timeout", "20"],
    ...["--seed", "1"],
    "--no-color",
  ];
  try {
    const { stdout } = await run(program, args, { cwd, maxBuffer: 2 ** 26 });
    return { failed: false, output: stdout.slice(-1500) };
  } catch (error) {
    const { stdout = String(error) } = error as { stdout?: string };
    return { failed: true, output: stdout.slice(-6000) };
  }
}
