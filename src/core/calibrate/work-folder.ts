import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { InputError } from "../input/input-error.ts";
import { readJson } from "../input/json.ts";

/** What decides the weights that training will end with. */
export type Plan = Readonly<Record<string, unknown>>;

const PLAN_FILE = "plan.json";

/**
 * The folder beside a bundle in which its encoder is trained. It outlives a
 * process that was stopped, with the plan and whatever checkpoints there are.
 */
export class WorkFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static of(bundle: string): WorkFolder {
    return new WorkFolder(`${bundle.replace(/[/\\]+$/, "")}.fit`);
  }

  /** Goes on with the same plan, or begins anew; what was begun is not lost unasked. */
  async open(plan: Plan, { resume = false, overwrite = false }): Promise<void> {
    const file = join(this.path, PLAN_FILE);
    const begun = existsSync(file) && (await this.holdsWork());
    if (begun && resume) return checkPlan(file, plan);
    if (begun && !overwrite) {
      throw new InputError(
        { file: this.path },
        "holds a fit that was stopped",
        "add --resume to go on with it, or --overwrite to begin anew",
      );
    }
    await this.remove();
    await mkdir(this.path, { recursive: true });
    await writeFile(file, `${JSON.stringify(plan)}\n`);
  }

  /** Whether there is anything to go on with. */
  async holdsWork(): Promise<boolean> {
    const names = await readdir(this.path).catch(() => []);
    return names.some((name) => name !== PLAN_FILE);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

async function checkPlan(file: string, plan: Plan): Promise<void> {
  const anew = "add --overwrite (without --resume) to begin anew";
  const earlier = await readJson(file, z.record(z.string(), z.unknown()), anew);
  const current = JSON.parse(JSON.stringify(plan)) as Plan;
  const keys = new Set([...Object.keys(earlier), ...Object.keys(current)]);
  const changed = [...keys].find((key) => !isDeepStrictEqual(earlier[key], current[key]));
  if (changed === undefined) return;
  const show = (value: unknown) => JSON.stringify(value) ?? "not set";
  const [was, is] = [show(earlier[changed]), show(current[changed])];
  throw new InputError(
    { file, field: changed },
    was.length + is.length < 100
      ? `was ${was}, is now ${is}: what was begun is another fit`
      : "has changed: what was begun is another fit",
    `give it its old value, or ${anew}`,
  );
}
