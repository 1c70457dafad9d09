import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { StandingClock } from "../clock/clock.fixture.ts";
import { chat, newFolder, SANDBOX, startGateway } from "../gateway.fixture.ts";
import { newLogger } from "../telemetry/logger.ts";
import { Warnings } from "./warnings.ts";

const GERMAN =
  "Warum ist der Himmel blau, und warum wird er am Abend rot und in der Nacht schwarz?";

it("reports prompts in other languages in the stats, and in the log once per hour", async () => {
  const { post, get, serving } = await startGateway(SANDBOX);
  const warnings = async () => (await get("/v1/stats")).json.warnings;
  expect(await warnings()).toEqual([]);
  for (let i = 0; i < 100; i++) await post("/v1/route", chat(GERMAN));
  expect(await warnings()).toEqual([expect.stringMatching(/^100% .* not in English.*; hint: /)]);

  const lines: string[] = [];
  const clock = new StandingClock();
  const logger = newLogger("warn", { write: (line) => void lines.push(line) });
  const warner = new Warnings(serving, clock, logger);
  onTestFinished(() => warner.stop());
  warner.check();
  warner.check();
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: "warn", router: "auto" });
  clock.pass(3_600_000);
  warner.check();
  expect(lines).toHaveLength(2);
});

it("reports a table of scores that names no model of the router, in the stats and at the start", async () => {
  const folder = newFolder();
  const scores = (model: string) => `model,category,perf,cost\n${model},MMLU,0.9,0\n`;
  writeFileSync(join(folder, "old.csv"), scores("gpt-3"));
  writeFileSync(join(folder, "new.csv"), scores("pebble-mini"));
  const routers = "{auto: {scores: old.csv}, other: {scores: new.csv}}";
  const { get, lines } = await startGateway(`${SANDBOX}\nrouters: ${routers}`, { folder });
  const told = expect.stringMatching(/old\.csv have no effect.*; hint: .*pebble-mini/);
  expect((await get("/v1/stats?router=auto")).json.warnings).toEqual([told]);
  expect((await get("/v1/stats?router=other")).json.warnings).toEqual([]);
  const logged = lines.filter((line) => line.includes("have no effect"));
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ level: "warn", router: "auto" }]);
});
