import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..");
const read = (name: string) => readFileSync(path.join(ROOT, name), "utf8");

it("docs/lab.md shows the policy of examples/mine.ts", () => {
  expect(read("docs/lab.md")).toContain(read("examples/mine.ts").trim());
});
