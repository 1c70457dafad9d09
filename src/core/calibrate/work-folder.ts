import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { InputError } from "../input/input-error.ts";
import { readJson } from "../input/json.ts";

/** Everything that determines the trained weights. */
export type Plan = Readonly<Record<string, unknown>>;

const PLAN_FILE = "plan.json";

/**
 * The folder BUNDLE.fit in which the encoder of a bundle is trained. After an
 * interruption it still holds the plan and the checkpoints.
 */
export class WorkFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static of(bundle: string): WorkFolder {
    return new WorkFolder(`${bundle.replace(/[/\\]+$/, "")}.fit`);
  }

  /** Resumes the same plan or starts over. An interrupted fit is not discarded without `overwrite`. */
  async open(plan: Plan, { resume = false, overwrite = false }): Promise<void> {
    const file = join(this.path, PLAN_FILE);
    const isInterrupted = existsSync(file) && (await this.holdsWork());
    if (isInterrupted && resume) return checkPlan(file, plan);
    if (isInterrupted && !overwrite) {
      throw new InputError(
        { file: this.path },
        "holds a fit that was stopped",
        "add --resume to continue it, or --overwrite to start over",
      );
    }
    await this.remove();
    await mkdir(this.path, { recursive: true });
    await writeFile(file, `${JSON.stringify(plan)}\n`);
  }

  /** Whether there is anything to resume. */
  async holdsWork(): Promise<boolean> {
    const names = await readdir(this.path).catch(() => []);
    return names.some((name) => name !== PLAN_FILE);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

async function checkPlan(file: string, plan: Plan): Promise<void> {
  const startOver = "add --overwrite (without --resume) to start over";
  const earlier = await readJson(file, z.record(z.string(), z.unknown()), startOver);
  const current = JSON.parse(JSON.stringify(plan)) as Plan;
  const keys = new Set([...Object.keys(earlier), ...Object.keys(current)]);
  const changed = [...keys].find((key) => !isDeepStrictEqual(earlier[key], current[key]));
  if (changed === undefined) return;
  const show = (value: unknown) => JSON.stringify(value) ?? "not set";
  const [was, is] = [show(earlier[changed]), show(current[changed])];
  throw new InputError(
    { file, field: changed },
    was.length + is.length < 100
      ? `was ${was} in the stopped fit and is now ${is}`
      : "has changed since the stopped fit",
    `restore its old value, or ${startOver}`,
  );
}
