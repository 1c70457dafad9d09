import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** A file imports from its own layer and the ones before it, never from a later one. */
const LAYERS = [
  "random",
  "linalg",
  "bandit",
  "input",
  "encoder",
  "calibrate",
  "router.ts",
  "simulate",
  "report",
  "reproduce",
  "store",
  "learner",
  "gateway",
  "cli",
  "index.ts",
];

const SRC = path.resolve(import.meta.dirname, "../src");

it("imports flow one way, and none leads into a test", () => {
  const names = globSync("**/*.ts", { cwd: SRC }).map((name) => name.replaceAll("\\", "/"));
  expect(names.length).toBeGreaterThan(10);
  const files = new Map(names.map((name) => [name, readFileSync(path.join(SRC, name), "utf8")]));
  expect(violations(files)).toEqual([]);
});

describe("violations", () => {
  const check = (files: Record<string, string>) => violations(new Map(Object.entries(files)));

  it("lets a file import from its own folder, earlier ones and packages", () => {
    const fine = [
      'import { z } from "zod";',
      'import fs from "node:fs";',
      'import { a } from "./btl.ts";',
      'import {\n  b,\n  c,\n} from "../../linalg/linalg.ts";',
      'export { d } from "../../random/random.ts";',
    ];
    expect(check({ "bandit/policies/x.ts": fine.join("\n") })).toEqual([]);
    expect(check({ "router.ts": 'import { a } from "./bandit/policy.ts";' })).toEqual([]);
    expect(check({ "simulate/run.ts": 'import { a } from "../router.ts";' })).toEqual([]);
  });

  it.each([
    ["a plain import", 'import { a } from "../gateway/server.ts";'],
    ["several lines", 'import {\n  a,\n  b,\n} from "../gateway/server.ts";'],
    ["a type", 'import type { A } from "../gateway/server.ts";'],
    ["an inline type", 'type A = import("../gateway/server.ts").A;'],
    ["an export", 'export * from "../gateway/server.ts";'],
    ["a side effect", 'import "../gateway/server.ts";'],
    ["a dynamic import", 'const a = await import("../gateway/server.ts");'],
    ["single quotes", "import { a } from '../gateway/server.ts';"],
    ["not the first statement", 'const b = 1;\nimport { a } from "../gateway/server.ts";'],
  ])("finds an import of a later folder: %s", (_, text) => {
    expect(check({ "bandit/x.ts": text })).toEqual([
      "bandit/x.ts imports gateway/server.ts: gateway comes after bandit",
    ]);
  });

  it("router.ts is a layer of its own", () => {
    const up = check({ "bandit/x.ts": 'import { a } from "../router.ts";' });
    expect(up).toEqual(["bandit/x.ts imports router.ts: router.ts comes after bandit"]);
    const down = check({ "router.ts": 'import { a } from "./store/store.ts";' });
    expect(down).toEqual(["router.ts imports store/store.ts: store comes after router.ts"]);
  });

  it("finds a folder without a place, on either side", () => {
    expect(check({ "utils/x.ts": 'import { a } from "../random/random.ts";' })).toEqual([
      "utils/x.ts: utils has no place among the layers",
    ]);
    expect(check({ "cli/x.ts": 'import { a } from "../utils/x.ts";' })).toEqual([
      "cli/x.ts imports utils/x.ts: utils has no place among the layers",
    ]);
  });

  it("finds an import out of src", () => {
    expect(check({ "cli/x.ts": 'import { a } from "../../bench/main.ts";' })).toEqual([
      "cli/x.ts imports ../bench/main.ts: it is outside src",
    ]);
  });

  it.each(["x.test.ts", "x.slow.test.ts", "policy.case.ts", "table.fixture.ts"])(
    "finds an import of %s by what is not a test, and lets tests import anything",
    (test) => {
      expect(check({ "bandit/x.ts": `import { a } from "./${test}";` })).toEqual([
        `bandit/x.ts imports bandit/${test}: it belongs to the tests`,
      ]);
      const anything = `import { a } from "./y.test.ts";\nimport { b } from "../cli/program.ts";`;
      expect(check({ [`bandit/${test}`]: anything })).toEqual([]);
    },
  );

  it("does not read comments for imports", () => {
    const text =
      '/**\n * import { a } from "../cli/program.ts";\n */\n// import "../cli/program.ts";';
    expect(check({ "bandit/x.ts": text })).toEqual([]);
  });
});

/** What is wrong with the imports of `files`: names relative to src, each with its text. */
function violations(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, text]) => {
    if (isTest(file)) return [];
    const own = layerOf(file);
    if (rank(own) < 0) return [`${file}: ${own} has no place among the layers`];
    return importsOf(text)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => path.posix.join(path.posix.dirname(file), specifier))
      .flatMap((target) => {
        const fault = faultOf(own, target);
        return fault ? [`${file} imports ${target}: ${fault}`] : [];
      });
  });
}

function faultOf(own: string, target: string): string | undefined {
  const theirs = layerOf(target);
  if (target.startsWith("..")) return "it is outside src";
  if (isTest(target)) return "it belongs to the tests";
  if (rank(theirs) < 0) return `${theirs} has no place among the layers`;
  if (rank(theirs) > rank(own)) return `${theirs} comes after ${own}`;
  return undefined;
}

function importsOf(text: string): string[] {
  const code = text.replaceAll(/^\s*\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const statement = /^\s*(?:import|export)\b(?:[^"';]*?\bfrom\b)?\s*["']([^"']+)["']/gm;
  const call = /\bimport\s*\(\s*["']([^"']+)["']/g;
  return [statement, call].flatMap((pattern) => [...code.matchAll(pattern)].map((m) => m[1]!));
}

/** The tests themselves, their shared cases and their fixtures. */
function isTest(file: string): boolean {
  return /\.(test|case|fixture)\.ts$/.test(file);
}

function layerOf(file: string): string {
  return file.split("/")[0]!;
}

function rank(layer: string): number {
  return LAYERS.indexOf(layer);
}
