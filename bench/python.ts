/** Python environments for comparisons. They are created once, outside the repository. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Folder for downloaded software. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "joust");

export function pythonWithSentenceTransformers(): Promise<string | undefined> {
  return pythonWith(
    "bench-python",
    ["torch", "sentence-transformers"],
    "import torch, sentence_transformers",
  );
}

/** Path of a Python interpreter with the packages; undefined, with a message on stderr, if it cannot be set up. */
export async function pythonWith(
  name: string,
  packages: readonly string[],
  imports: string,
): Promise<string | undefined> {
  const folder = join(CACHE, name);
  const python = join(folder, "bin", "python");
  if (existsSync(python) && (await works(python, imports))) return python;
  try {
    report(`creating a Python environment in ${folder} with ${packages.join(" and ")} (only once)`);
    await run("python3", ["-m", "venv", "--clear", folder]);
    await run(python, ["-m", "pip", "install", "--quiet", ...packages], { maxBuffer: 2 ** 26 });
    await run(python, ["-c", imports]);
    return python;
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split("\n").at(-1) : error;
    report(`skipped: no Python environment with ${packages.join(" and ")} (${reason})`);
    return undefined;
  }
}

async function works(python: string, imports: string): Promise<boolean> {
  return run(python, ["-c", imports]).then(
    () => true,
    () => false,
  );
}

function report(message: string): void {
  process.stderr.write(`${message}\n`);
}
