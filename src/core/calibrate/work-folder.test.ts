import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { WorkFolder } from "./work-folder.ts";

const PLAN = { epochs: 4, texts: "0123" };

async function newWorkFolder(): Promise<WorkFolder> {
  const folder = mkdtempSync(join(tmpdir(), "joust-work-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const work = WorkFolder.of(`${join(folder, "bundle")}/`);
  expect(work.path).toBe(join(folder, "bundle.fit"));
  await work.open(PLAN, { resume: true });
  // A plan without checkpoints can be replaced.
  await work.open(PLAN, {});
  return work;
}

it("starts in an empty folder and resumes only the same plan", async () => {
  const work = await newWorkFolder();
  expect(await work.holdsWork()).toBe(false);
  writeFileSync(join(work.path, "checkpoint"), "");
  expect(await work.holdsWork()).toBe(true);
  await work.open(PLAN, { resume: true });
  expect(readdirSync(work.path).sort()).toEqual(["checkpoint", "plan.json"]);
  await expect(work.open({ ...PLAN, epochs: 2 }, { resume: true })).rejects.toThrow(
    errorText(
      /plan.json: field "epochs": was 4 in the stopped fit and is now 2; hint: restore its old value/,
    ),
  );
  await expect(work.open({ ...PLAN, texts: "4".repeat(200) }, { resume: true })).rejects.toThrow(
    /"texts": has changed since the stopped fit/,
  );
  expect(await work.holdsWork()).toBe(true);
});

it("does not discard an interrupted fit without overwrite", async () => {
  const work = await newWorkFolder();
  writeFileSync(join(work.path, "checkpoint"), "");
  await expect(work.open(PLAN, {})).rejects.toThrow(errorText(/hint: add --resume .*--overwrite/));
  expect(await work.holdsWork()).toBe(true);
  await work.open({ epochs: 1 }, { overwrite: true });
  expect(await work.holdsWork()).toBe(false);
  await work.remove();
  expect(existsSync(work.path)).toBe(false);
  expect(await work.holdsWork()).toBe(false);
});
