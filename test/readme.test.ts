import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..");
const read = (name: string) => readFileSync(path.join(ROOT, name), "utf8");

it("the policy that the README shows is the one in examples/", () => {
  expect(read("README.md")).toContain(read("examples/mine.ts").trim());
});
