import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { MODULE_EXTENSION } from "../../core/input/project.ts";

const SRC = resolve(import.meta.dirname, "../..");

/**
 * SHA-256 of the program: names and contents of the files under `root`, tests
 * aside. Runs of two versions must not be mixed, and the package's version is
 * the same all through development.
 */
export function codeFingerprint(root = SRC): string {
  const hash = createHash("sha256");
  const names = globSync(`**/*${MODULE_EXTENSION}`, { cwd: root }).map((name) =>
    name.replaceAll(sep, "/"),
  );
  for (const name of names.sort()) {
    if (/\.(test|case|fixture)\.ts$/.test(name)) continue;
    const text = readFileSync(join(root, name));
    hash.update(`${name}\0${text.length}\0`).update(text);
  }
  return hash.digest("hex");
}
