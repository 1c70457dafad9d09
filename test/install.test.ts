import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");

interface LockedPackage {
  readonly gypfile?: boolean;
  readonly hasInstallScript?: boolean;
}

/**
 * npm 10 does not know `allowScripts` of package.json, but heeds the lock file.
 * Left as npm writes it, a clean machine cannot install: better-sqlite3 would be
 * built, which wants Python, and onnxruntime would fetch CUDA.
 */
it("the lock file builds and fetches nothing for what comes prebuilt", () => {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const locked = (name: string) => lock.packages[`node_modules/${name}`] as LockedPackage;
  const help = (change: string) => `npm install has rewritten package-lock.json\nhint: ${change}`;
  expect(
    locked("better-sqlite3").gypfile,
    help('write "gypfile": false back into the entry of better-sqlite3'),
  ).toBe(false);
  expect(
    locked("onnxruntime-node").hasInstallScript,
    help('take "hasInstallScript" out of the entry of onnxruntime-node'),
  ).toBeUndefined();
});
