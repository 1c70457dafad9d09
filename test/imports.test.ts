import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { cyclesOf, importsOf } from "./import-graph.fixture.ts";

/**
 * Layers from the lowest to the highest. A file imports from its own layer and from
 * lower ones only. A file belongs to the layer with the longest matching prefix.
 */
const LAYERS = [
  "core/errors",
  "core/statistics.ts",
  "core/random",
  "core/linalg",
  "core/bandit",
  "core/input",
  "core/threads",
  "core/processes",
  "core/encoder",
  "core/calibrate",
  "core/router.ts",
  "core/policy-spec",
  "api",
  "client",
  "lab/data",
  "lab/jobs",
  "lab/report",
  "lab/simulate",
  "lab/reproduce",
  "lab/experiments",
  "store",
  "learner",
  "gateway/clock",
  "gateway/peers",
  "gateway/wire",
  "gateway/telemetry",
  "gateway/config",
  "gateway/access",
  "gateway/codecs",
  "gateway/providers/upstream",
  "gateway/providers/openai",
  "gateway/providers",
  "gateway/dialects",
  "gateway/sandbox",
  "gateway/log",
  "gateway/routing",
  "gateway/deliver",
  "gateway/feedback",
  "gateway/answer",
  "gateway/evaluation",
  "gateway/insight",
  "gateway/administration",
  "gateway/server",
  "gateway",
  "gateway/processes",
  "cli",
  "client.ts",
  "index.ts",
  "gateway.ts",
  "lab.ts",
];

/** Parts that lie beside each other in docs/architecture.md: neither imports the other. */
const BESIDE = [
  ["gateway", "lab"],
  ["store", "lab"],
  ["learner", "lab"],
] as const;

const sources = readSources("src");

it("imports point to lower layers and never into tests", () => {
  expect(sources.size).toBeGreaterThan(10);
  expect(violations(sources)).toEqual([]);
});

it("no files import each other in a cycle, types included", () => {
  expect(cyclesOf(fileGraph(sources))).toEqual([]);
});

it("no folders import each other in a cycle, types included", () => {
  expect(cyclesOf(folderGraph(sources))).toEqual([]);
});

it("neither files nor folders of the page import each other in a cycle", () => {
  const page = readSources("web/src");
  expect(page.size).toBeGreaterThan(10);
  expect([...cyclesOf(fileGraph(page)), ...cyclesOf(folderGraph(page))]).toEqual([]);
});

describe("violations", () => {
  const check = (files: Record<string, string>) => violations(new Map(Object.entries(files)));

  it("accepts imports of packages, the own layer and lower layers", () => {
    const fine = [
      'import { z } from "zod";',
      'import fs from "node:fs";',
      'import { a } from "./btl.ts";',
      'import {\n  b,\n  c,\n} from "../../linalg/linalg.ts";',
      'export { d } from "../../random/random.ts";',
    ];
    expect(check({ "core/bandit/policies/x.ts": fine.join("\n") })).toEqual([]);
    expect(check({ "core/router.ts": 'import { a } from "./bandit/policy.ts";' })).toEqual([]);
    expect(check({ "lab/simulate/run.ts": 'import { a } from "../../core/router.ts";' })).toEqual(
      [],
    );
  });

  it.each([
    ["a plain import", 'import { a } from "../../gateway/server.ts";'],
    ["several lines", 'import {\n  a,\n  b,\n} from "../../gateway/server.ts";'],
    ["a type", 'import type { A } from "../../gateway/server.ts";'],
    ["an inline type", 'type A = import("../../gateway/server.ts").A;'],
    ["an export", 'export * from "../../gateway/server.ts";'],
    ["a side effect", 'import "../../gateway/server.ts";'],
    ["a dynamic import", 'const a = await import("../../gateway/server.ts");'],
    ["a URL", 'const a = new URL("../../gateway/server.ts", import.meta.url);'],
    ["single quotes", "import { a } from '../../gateway/server.ts';"],
    ["not the first statement", 'const b = 1;\nimport { a } from "../../gateway/server.ts";'],
  ])("rejects an import of a higher layer: %s", (_, text) => {
    expect(check({ "core/bandit/x.ts": text })).toEqual([
      "core/bandit/x.ts imports gateway/server.ts: gateway is above core/bandit",
    ]);
  });

  it("treats router.ts as a layer", () => {
    const up = check({ "core/bandit/x.ts": 'import { a } from "../router.ts";' });
    expect(up).toEqual([
      "core/bandit/x.ts imports core/router.ts: core/router.ts is above core/bandit",
    ]);
    const down = check({ "core/router.ts": 'import { a } from "../store/store.ts";' });
    expect(down).toEqual(["core/router.ts imports store/store.ts: store is above core/router.ts"]);
  });

  it.each([
    ["gateway/routing/x.ts", "lab/data/load.ts"],
    ["lab/simulate/x.ts", "gateway/gateway.ts"],
    ["store/x.ts", "lab/data/load.ts"],
  ])("rejects an import between parts beside each other: %s, %s", (file, target) => {
    const found = check({
      [file]: `import { a } from "${"../".repeat(file.split("/").length - 1)}${target}";`,
    });
    const [own, other] = [file, target].map((name) => name.split("/")[0]);
    expect(found).toEqual([`${file} imports ${target}: ${other} is beside ${own}`]);
  });

  it("rejects a folder without a layer, on either side", () => {
    expect(check({ "utils/x.ts": 'import { a } from "../core/random/random.ts";' })).toEqual([
      "utils/x.ts: no layer covers it",
    ]);
    expect(check({ "cli/x.ts": 'import { a } from "../utils/x.ts";' })).toEqual([
      "cli/x.ts imports utils/x.ts: no layer covers it",
    ]);
  });

  it("rejects an import of code outside src", () => {
    expect(check({ "cli/x.ts": 'import { a } from "../../bench/main.ts";' })).toEqual([
      "cli/x.ts imports ../bench/main.ts: it is outside src",
    ]);
  });

  it.each(["x.test.ts", "x.slow.test.ts", "policy.case.ts", "table.fixture.ts"])(
    "rejects an import of %s by product code and lets tests import anything",
    (test) => {
      expect(check({ "core/bandit/x.ts": `import { a } from "./${test}";` })).toEqual([
        `core/bandit/x.ts imports core/bandit/${test}: it belongs to the tests`,
      ]);
      const anything = `import { a } from "./y.test.ts";\nimport { b } from "../../cli/program.ts";`;
      expect(check({ [`core/bandit/${test}`]: anything })).toEqual([]);
    },
  );

  it("ignores imports in comments", () => {
    const text =
      '/**\n * import { a } from "../../cli/program.ts";\n */\n// import "../../cli/program.ts";';
    expect(check({ "core/bandit/x.ts": text })).toEqual([]);
  });
});

describe("cycles", () => {
  it("finds a cycle between files, through types and URLs", () => {
    const files = new Map([
      ["a/x.ts", 'import type { Y } from "./y.ts";'],
      ["a/y.ts", 'const url = new URL("./x.ts", import.meta.url);'],
      ["a/z.ts", 'import { x } from "./x.ts";'],
    ]);
    expect(cyclesOf(fileGraph(files))).toEqual([["a/x.ts", "a/y.ts"]]);
  });

  it("finds a cycle between folders without one between files", () => {
    const files = new Map([
      ["a/x.ts", 'import { b } from "../b/y.ts";'],
      ["a/z.ts", ""],
      ["b/y.ts", ""],
      ["b/w.ts", 'import { z } from "../a/z.ts";'],
    ]);
    expect(cyclesOf(fileGraph(files))).toEqual([]);
    expect(cyclesOf(folderGraph(files))).toEqual([["a", "b"]]);
  });
});

/** Texts of the source files in a folder of the repository, by their names relative to it. */
function readSources(folder: string): Map<string, string> {
  const cwd = path.resolve(import.meta.dirname, "..", folder);
  const names = globSync("**/*.{ts,tsx}", { cwd }).map((name) => name.replaceAll("\\", "/"));
  return new Map(names.map((name) => [name, readFileSync(path.join(cwd, name), "utf8")]));
}

/** Forbidden imports in `files`, whose names are relative to src. */
function violations(files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, text]) => {
    if (isTest(file)) return [];
    if (layerOf(file) === undefined) return [`${file}: no layer covers it`];
    return targetsOf(file, text).flatMap((target) => {
      const fault = faultOf(file, target);
      return fault ? [`${file} imports ${target}: ${fault}`] : [];
    });
  });
}

function faultOf(file: string, target: string): string | undefined {
  if (target.startsWith("..")) return /\.ts$/.test(target) ? "it is outside src" : undefined;
  if (isTest(target)) return "it belongs to the tests";
  const [own, theirs] = [layerOf(file)!, layerOf(target)];
  if (theirs === undefined) return "no layer covers it";
  const [a, b] = [file, target].map((name) => name.split("/")[0]);
  if (BESIDE.some(([x, y]) => (a === x && b === y) || (a === y && b === x))) {
    return `${b} is beside ${a}`;
  }
  return LAYERS.indexOf(theirs) > LAYERS.indexOf(own) ? `${theirs} is above ${own}` : undefined;
}

function targetsOf(file: string, text: string): string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => path.posix.join(path.posix.dirname(file), specifier));
}

function fileGraph(files: ReadonlyMap<string, string>): Map<string, Set<string>> {
  const product = [...files].filter(([file]) => !isTest(file));
  return new Map(
    product.map(([file, text]) => [
      file,
      new Set(targetsOf(file, text).filter((target) => files.has(target))),
    ]),
  );
}

function folderGraph(files: ReadonlyMap<string, string>): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const [file, targets] of fileGraph(files)) {
    const folder = path.posix.dirname(file);
    const others = graph.get(folder) ?? new Set();
    for (const target of targets) {
      if (path.posix.dirname(target) !== folder) others.add(path.posix.dirname(target));
    }
    graph.set(folder, others);
  }
  return graph;
}

/** Tests, their shared cases and their fixtures. */
function isTest(file: string): boolean {
  return /\.(test|case|fixture)\.tsx?$/.test(file);
}

function layerOf(file: string): string | undefined {
  return LAYERS.filter((layer) => file === layer || file.startsWith(`${layer}/`)).toSorted(
    (a, b) => b.length - a.length,
  )[0];
}
