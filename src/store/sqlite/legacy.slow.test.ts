import { statSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { vote } from "../events.fixture.ts";
import { newFiles } from "../folder.fixture.ts";
import { writeOldFile } from "./legacy.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

const newFile = newFiles();
/** `bench migration` converts a million. */
const DECISIONS = 200_000;

it("converts 200,000 decisions of version 0.1 while votes are cast, with flat memory", async () => {
  const file = newFile();
  writeOldFile(file, DECISIONS);
  const size = statSync(file).size;
  global.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const store = new SqliteStore(file, Date.now);
  onTestFinished(() => store.close());
  let isDone = false;
  const migrated = store.migrated().then(() => {
    isDone = true;
  });
  let votes = 0;
  while (!isDone) {
    await store.append([vote(DECISIONS + ++votes)]);
    most = Math.max(most, process.memoryUsage().rss);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await migrated;
  // Votes are never blocked by the conversion.
  expect(votes).toBeGreaterThan(10);
  expect((most - before) / 2 ** 20).toBeLessThan(200);
  expect(statSync(file).size).toBeLessThan(size / 3);
  expect(await store.timeOfNewest("auto", DECISIONS)).toBeGreaterThan(0);
  expect(await store.timeOfNewest("auto", DECISIONS + 1)).toBe(0);
  expect((await store.decision(`d${DECISIONS >> 1}`))!.answers).toHaveLength(1);
}, 1_800_000);
