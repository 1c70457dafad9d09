import { expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { newFiles } from "../folder.fixture.ts";
import { killedFolder, survivesDamage } from "./damage.case.ts";

const folder = newFiles()();

const TIMES = 500;

it("opens with all acknowledged votes or refuses clearly, 500 times", async () => {
  const events = await killedFolder(folder);
  const random = Random.seeded(2);
  const results: string[] = [];
  for (let i = 0; i < TIMES; i++) {
    results.push(await survivesDamage(folder, events, random.split(i)));
  }
  expect(results).toHaveLength(TIMES);
});
