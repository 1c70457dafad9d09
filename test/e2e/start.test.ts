import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newFolder, start } from "./joust.fixture.ts";

it("start: a first simulation that needs nothing, and says where its report is", async () => {
  const folder = newFolder();
  const { code, stdout, stderr } = await start(["start"], folder).end;
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^Welcome to Joust/);
  expect(stdout).toContain("Over 5 runs of 400 rounds, ");
  expect(stdout).toContain(`Open ${join("out", "first-run", "report.html")}`);
  expect(existsSync(join(folder, "out/first-run/report.html"))).toBe(true);

  // Again, over its own first run.
  const again = await start(["start"], folder).end;
  expect([again.code, again.stderr]).toEqual([0, ""]);
});
