import { expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { newFiles } from "../folder.fixture.ts";
import { killedFolder, survivesDamage } from "./damage.case.ts";

const folder = newFiles()();

it("opens with all acknowledged votes or refuses clearly, however a file is damaged", async () => {
  const events = await killedFolder(folder);
  expect(events).toHaveLength(331);
  const random = Random.seeded(1);
  const results: string[] = [];
  for (let i = 0; i < 25; i++) results.push(await survivesDamage(folder, events, random.split(i)));
  // Both results occur: some damage can be repaired, some cannot.
  expect(new Set(results)).toEqual(new Set(["opened", "refused"]));
});
