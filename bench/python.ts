/**
 * Python environments that benches compare with, of no use to anything else here.
 * They lie outside the repository and are made once.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where benches keep what they get from elsewhere. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "joust");

export function pythonWithSentenceTransformers(): Promise<string | undefined> {
  return pythonWith(
    "bench-python",
    ["torch", "sentence-transformers"],
    "import torch, sentence_transformers",
  );
}

/** The interpreter that has the packages; undefined, said on stderr, where python3 or a registry is missing. */
export async function pythonWith(
  name: string,
  packages: readonly string[],
  imports: string,
): Promise<string | undefined> {
  const folder = join(CACHE, name);
  const python = join(folder, "bin", "python");
  if (existsSync(python) && (await works(python, imports))) return python;
  try {
    say(`making a Python environment in ${folder} with ${packages.join(" and ")}, once`);
    await run("python3", ["-m", "venv", "--clear", folder]);
    await run(python, ["-m", "pip", "install", "--quiet", ...packages], { maxBuffer: 2 ** 26 });
    await run(python, ["-c", imports]);
    return python;
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split("\n").at(-1) : error;
    say(`no Python environment with ${packages.join(" and ")} here (${reason}): left out`);
    return undefined;
  }
}

async function works(python: string, imports: string): Promise<boolean> {
  return run(python, ["-c", imports]).then(
    () => true,
    () => false,
  );
}

function say(what: string): void {
  process.stderr.write(`${what}\n`);
}
