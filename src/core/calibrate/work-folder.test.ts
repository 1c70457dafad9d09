import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { WorkFolder } from "./work-folder.ts";

const PLAN = { epochs: 4, texts: "0123" };

async function begun(): Promise<WorkFolder> {
  const folder = mkdtempSync(join(tmpdir(), "joust-work-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const work = WorkFolder.of(`${join(folder, "bundle")}/`);
  expect(work.path).toBe(join(folder, "bundle.fit"));
  await work.open(PLAN, { resume: true });
  // A plan alone is no work to lose.
  await work.open(PLAN, {});
  return work;
}

it("begins where nothing is, and goes on with the same plan only", async () => {
  const work = await begun();
  expect(await work.holdsWork()).toBe(false);
  writeFileSync(join(work.path, "checkpoint"), "");
  expect(await work.holdsWork()).toBe(true);
  await work.open(PLAN, { resume: true });
  expect(readdirSync(work.path).sort()).toEqual(["checkpoint", "plan.json"]);
  await expect(work.open({ ...PLAN, epochs: 2 }, { resume: true })).rejects.toThrow(
    errorText(/plan.json: field "epochs": was 4, is now 2: .*; hint: give it its old value/),
  );
  await expect(work.open({ ...PLAN, texts: "4".repeat(200) }, { resume: true })).rejects.toThrow(
    /"texts": has changed:/,
  );
  expect(await work.holdsWork()).toBe(true);
});

it("does not lose what was begun unasked, and begins anew when asked", async () => {
  const work = await begun();
  writeFileSync(join(work.path, "checkpoint"), "");
  await expect(work.open(PLAN, {})).rejects.toThrow(errorText(/hint: add --resume .*--overwrite/));
  expect(await work.holdsWork()).toBe(true);
  await work.open({ epochs: 1 }, { overwrite: true });
  expect(await work.holdsWork()).toBe(false);
  await work.remove();
  expect(existsSync(work.path)).toBe(false);
  expect(await work.holdsWork()).toBe(false);
});
