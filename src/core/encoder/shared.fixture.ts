import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../../../shared");

/** A file of the folder with the real models and the golden outputs, beside the checkout. */
export function shared(name: string): string {
  return join(ROOT, name);
}

/** Tests that need files of it; skipped, and named so, where they are not. */
export function describeWithShared(title: string, names: readonly string[], tests: () => void) {
  const found = names.every((name) => existsSync(shared(name)));
  describe.skipIf(!found)(`${title} (needs ../shared/${names.join(", ../shared/")})`, tests);
}
