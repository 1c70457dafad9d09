import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../../../shared");

/** Path of a file in ../shared, the folder of real models and golden outputs beside the checkout. */
export function shared(name: string): string {
  return join(ROOT, name);
}

/** Declares tests that need files of ../shared. They are skipped if the files do not exist. */
export function describeWithShared(title: string, names: readonly string[], tests: () => void) {
  const found = names.every((name) => existsSync(shared(name)));
  const named = `${title} (needs ../shared/${names.join(", ../shared/")})`;
  // The function of a skipped group is called too, and would read the missing files.
  if (found) describe(named, tests);
  else describe.skip(named, () => it("needs files that are not here", () => {}));
}
