/**
 * The Python environment that benches compare with: PyTorch and
 * sentence-transformers, of no use to anything else here. It lies outside the
 * repository and is made once.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGES = ["torch", "sentence-transformers"];
const IMPORTS = "import torch, sentence_transformers";

/** The interpreter that has them; undefined, said on stderr, where python3 or a registry is missing. */
export async function pythonWithSentenceTransformers(): Promise<string | undefined> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const folder = join(cache, "joust", "bench-python");
  const python = join(folder, "bin", "python");
  if (existsSync(python) && (await works(python))) return python;
  try {
    say(`making a Python environment in ${folder}: some gigabytes, once`);
    await run("python3", ["-m", "venv", "--clear", folder]);
    await run(python, ["-m", "pip", "install", "--quiet", ...PACKAGES], { maxBuffer: 2 ** 26 });
    await run(python, ["-c", IMPORTS]);
    return python;
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim().split("\n").at(-1) : error;
    say(
      `no Python environment with ${PACKAGES.join(" and ")} here (${reason}): nothing to compare with`,
    );
    return undefined;
  }
}

async function works(python: string): Promise<boolean> {
  return run(python, ["-c", IMPORTS]).then(
    () => true,
    () => false,
  );
}

function say(what: string): void {
  process.stderr.write(`${what}\n`);
}
