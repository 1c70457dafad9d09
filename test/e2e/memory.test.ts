import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { OWN_QUERIES, OWN_SCORES } from "../../src/lab/data/real-data.fixture.ts";
import { ROOT } from "./joust.fixture.ts";

/** Prints the largest resident set in MB when the process ends. */
const MEASURE = `data:text/javascript,import { isMainThread } from "node:worker_threads";
if (isMainThread) process.on("exit", () => console.error(process.resourceUsage().maxRSS / 1024));`;

it("a simulation of 100,000 rounds uses less than 300 MB", () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      ...["--import", MEASURE, join(ROOT, "bin/joust.js"), "simulate"],
      ...[OWN_QUERIES, "--scores", OWN_SCORES],
      ...["--policies", "joust", "--rounds", "100000", "--runs", "2", "--threads", "2", "--json"],
    ],
    { encoding: "utf8" },
  );
  expect(status).toBe(0);
  expect(Number(stderr)).toBeGreaterThan(50);
  expect(Number(stderr)).toBeLessThan(300);
});
