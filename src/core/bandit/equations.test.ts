import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { POLICIES } from "./policies/index.ts";

const here = new URL("./", import.meta.url);
const page = readFileSync(new URL("EQUATIONS.md", here), "utf8");
const rows = page
  .split("\n")
  .filter((line) => /^\| (?!symbol|name)/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

describe("EQUATIONS.md", () => {
  it.each(rows.map(([, symbol, , identifiers, file]) => [symbol!, identifiers!, file!]))(
    "finds %s",
    (_, identifiers, file) => {
      expect(existsSync(new URL(file, here))).toBe(true);
      const source = readFileSync(new URL(file, here), "utf8");
      for (const [, name] of identifiers.matchAll(/`(\w+)`/g)) {
        expect(source).toMatch(new RegExp(`\\b${name}\\b`));
      }
    },
  );

  it("names every policy", () => {
    const named = rows.flatMap(([, name]) => name!.split(", "));
    expect(POLICIES.map(({ name }) => name).filter((name) => !named.includes(name))).toEqual([]);
  });
});
