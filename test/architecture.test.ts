import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const PAGE = "docs/architecture.md";

/** Rows that the table "to change X, touch Y" must have. */
const CHANGES = [
  "a provider",
  "a routing policy",
  "an encoder",
  "a logged field",
  "how ties are learned",
  "a dashboard panel",
  "a command-line flag",
];

describe(PAGE, () => {
  const text = readFileSync(resolve(ROOT, PAGE), "utf8");

  it("links every name to a file that declares it", () => {
    const links = symbolLinks(text);
    expect(links.length).toBeGreaterThan(30);
    expect(
      links.filter((link) => !isDeclared(link)).map(({ name, path }) => `${name}: ${path}`),
    ).toEqual([]);
  });

  it("links only to files that exist", () => {
    const links = [...text.matchAll(/\]\(((?!https?:)[^)#]+)/g)].map((match) => match[1]!);
    expect(links.filter((path) => !existsSync(resolve(ROOT, dirname(PAGE), path)))).toEqual([]);
  });

  it("has a row for each common change, with at least two places", () => {
    const rows = text.split("\n").filter((line) => line.startsWith("| "));
    for (const change of CHANGES) {
      const row = rows.find((line) => line.startsWith(`| ${change}`));
      expect(row, change).toBeDefined();
      expect(symbolLinks(row!).length + fileLinks(row!).length, change).toBeGreaterThanOrEqual(2);
    }
  });

  it("names every folder of src, and no other", () => {
    const named = [...text.matchAll(/^ *([\w./-]+)\/ {2,}\S/gm)].map((match) => match[1]!);
    const folders = globSync("src/**/", { cwd: ROOT })
      .map((folder) => relative("src", folder).replaceAll("\\", "/"))
      .filter((folder) => folder !== "" && folder.split("/").length <= 2);
    const top = folders.filter(
      (folder) => !folder.includes("/") || /^(core|gateway|lab)\//.test(folder),
    );
    expect(named.toSorted()).toEqual(top.toSorted());
  });
});

describe("isDeclared", () => {
  it.each(["readChat", "Chain", "advance", "Code"])("finds %s", (name) => {
    const code = [
      "export async function readChat() {}",
      "export class Chain {",
      "  advance(rounds: number): void {}",
      "}",
      "export type Code = number;",
    ].join("\n");
    expect(declares(code, name)).toBe(true);
  });

  it("does not take a use for a declaration", () => {
    expect(declares("const x = readChat();\nimport { Chain } from './x.ts';", "readChat")).toBe(
      false,
    );
    expect(declares("import { Chain } from './x.ts';", "Chain")).toBe(false);
  });
});

interface SymbolLink {
  readonly name: string;
  readonly path: string;
}

/** Links such as [`name`](../src/file.ts): the file must declare the name. */
function symbolLinks(markdown: string): SymbolLink[] {
  return [...markdown.matchAll(/\[`([\w.]+?)(?:\(\))?`\]\(([^)#]+\.tsx?)\)/g)]
    .map((match) => ({ name: match[1]!.split(".").at(-1)!, path: match[2]! }))
    .filter(({ name }) => !/^(ts|tsx|sql|md)$/.test(name));
}

/** Links such as [`file.ts`](../src/file.ts). */
function fileLinks(markdown: string): string[] {
  return [...markdown.matchAll(/\[`[^`]+\.(?:ts|tsx|sql|md|yaml)`\]\(([^)#]+)\)/g)].map(
    (match) => match[1]!,
  );
}

function isDeclared({ name, path }: SymbolLink): boolean {
  const file = resolve(ROOT, dirname(PAGE), path);
  return existsSync(file) && declares(readFileSync(file, "utf8"), name);
}

function declares(code: string, name: string): boolean {
  const declaration = new RegExp(
    `\\b(?:function\\*?|class|const|type|interface)\\s+${name}\\b|^\\s+(?:(?:async|static|get|readonly|private|override)\\s+)*#?${name}\\s*[(<:?=]`,
    "m",
  );
  return declaration.test(code);
}
