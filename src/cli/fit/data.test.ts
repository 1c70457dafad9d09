import { join } from "node:path";
import { expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { routed, vote } from "../../store/events.fixture.ts";
import { seal } from "../../store/seal.ts";
import { SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { openFitData } from "./data.ts";

const write = temporaryFolder();

/** A data folder with one voted decision for each prompt; undefined stands for a prompt that was not stored. */
async function served(name: string, prompts: readonly (string | undefined)[]): Promise<string> {
  const folder = write(`${name}/x`, "").slice(0, -2);
  const store = new SqliteStore(join(folder, "joust.db"), Date.now);
  for (const [n, text] of prompts.entries()) {
    const prompt = text === undefined ? undefined : seal(text, `d${n}`, undefined);
    await store.record([routed(n, { prompt })]);
    await store.append([vote(n)]);
  }
  await store.close();
  return folder;
}

it("reads the comparisons of a log whose texts are stored, with a checksum", async () => {
  const folder = await served("kept", ["Why?", undefined, "How?"]);
  const flags = { out: "out", fromLog: true };
  const { dataset, title, file, sources } = await openFitData(folder, flags);
  expect([title, file]).toEqual(["the log of auto", undefined]);
  expect(dataset.models).toEqual(["ant", "bee", "cat", "dog"]);
  expect(dataset.queries).toMatchObject([
    { text: "Why?", comparisons: [{ a: 0, b: 1, outcome: "a" }] },
    { text: "How?", comparisons: [{ a: 2, b: 3, outcome: "a" }] },
  ]);
  expect(sources.data).toEqual({ file: title, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect((await openFitData(folder, flags)).sources).toEqual(sources);
  const other = openFitData(folder, { ...flags, router: "other" });
  await expect(other).rejects.toThrow(
    errorText(/^--router: the log has no router "other"; hint: /),
  );
});

it("refuses a log without texts, naming the setting that stores them, and a folder without a log", async () => {
  const folder = await served("vectors", [undefined]);
  await expect(openFitData(folder, { out: "out", fromLog: true })).rejects.toThrow(
    errorText(/^the log of auto: has no vote .*text is known; hint: .*store: \{prompts: true\}/),
  );
  await expect(openFitData("nowhere", { out: "out", fromLog: true })).rejects.toThrow(
    errorText(/joust\.db: does not exist; hint: /),
  );
});
