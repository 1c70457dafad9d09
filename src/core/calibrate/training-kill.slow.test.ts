import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const CHILD = fileURLToPath(import.meta.resolve("./training-child.fixture.ts"));

it("a training that is killed repeatedly ends with the same bits as an undisturbed one", async () => {
  const undisturbed = (await train(newFolder())).at(-1);
  const folder = newFolder();
  // Each kill comes a few milliseconds later after a step, so that some hit the writing of a checkpoint.
  for (const [step, milliseconds] of [
    [1, 0],
    [3, 2],
    [4, 5],
    [7, 9],
  ] as const) {
    await train(folder, { step, milliseconds });
  }
  const lines = await train(folder);
  expect(lines.at(-1)).toBe(undisturbed);
  // When step 7 is reported, the checkpoint of step 6 is complete.
  expect(["step 7", "step 8", "step 9", "step 10", undisturbed]).toContain(lines[0]);
});

/** Returns the output of the child until it ended or was killed some time after a step. */
async function train(
  folder: string,
  kill?: { readonly step: number; readonly milliseconds: number },
): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (kill && line === `step ${kill.step}`) {
      setTimeout(() => child.kill("SIGKILL"), kill.milliseconds);
    }
  }
  await ended;
  return lines;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-training-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
