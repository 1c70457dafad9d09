import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { InputError } from "../input/input-error.ts";
import { parseRecord } from "../input/rows.ts";
import type { PolicySpec } from "./policy-spec.ts";
import type { Run } from "./run.ts";

/** Everything besides policy and run that decides a run's numbers: settings, data, version. */
export type World = Readonly<Record<string, unknown>>;

/**
 * The finished runs of a sweep, kept as they come, so that an interrupted one
 * goes on where it was. A file of lines: first the world, then a line a run,
 * appended whole; a line that a crash has cut short is dropped.
 */
export class Journal {
  readonly #file: string;
  readonly #world: World;
  readonly #runs: Map<string, Run>;

  private constructor(file: string, world: World, runs: Map<string, Run>) {
    this.#file = file;
    this.#world = world;
    this.#runs = runs;
  }

  /** Begins the file anew, over what was there. */
  static async create(file: string, world: World): Promise<Journal> {
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `${JSON.stringify({ world })}\n`);
    } catch (error) {
      throw writeError(dirname(file), error);
    }
    return new Journal(file, world, new Map());
  }

  /** Goes on with the file; begins it where there is none. Refuses runs of another world. */
  static async resume(file: string, world: World): Promise<Journal> {
    const text = await readFile(file, "utf8").catch(ifMissing);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    const [header, ...lines] = whole
      .split("\n")
      .slice(0, -1)
      .map((line, i) => parseRecord(file, { number: i + 1, text: line }));
    if (!header) return Journal.create(file, world);
    checkWorld(file, header.world, world);
    await truncate(file, Buffer.byteLength(whole));
    const runs = lines.map(({ key, result }): [string, Run] => [String(key), result as Run]);
    return new Journal(file, world, new Map(runs));
  }

  find(policy: PolicySpec, run: number): Run | undefined {
    return this.#runs.get(keyOf(this.#world, policy, run));
  }

  add(policy: PolicySpec, run: number, result: Run): void {
    const key = keyOf(this.#world, policy, run);
    appendFileSync(this.#file, `${JSON.stringify({ key, policy: policy.name, run, result })}\n`);
  }
}

/** A policy's name is no part of it: two spellings of the same options are the same runs. */
function keyOf(world: World, { kind, options, router, module }: PolicySpec, run: number): string {
  const policy = { kind, options, router, sha256: module?.sha256 };
  return createHash("sha256").update(JSON.stringify({ world, policy, run })).digest("hex");
}

function checkWorld(file: string, then: unknown, now: World): void {
  // As JSON has it: a setting that is undefined is none.
  const current = JSON.parse(JSON.stringify(now)) as World;
  const earlier = (typeof then === "object" && then !== null ? then : {}) as World;
  const keys = new Set([...Object.keys(earlier), ...Object.keys(current)]);
  const changed = [...keys].find((key) => !isDeepStrictEqual(earlier[key], current[key]));
  if (changed === undefined) return;
  throw new InputError(
    { file, line: 1, field: changed },
    `was ${show(earlier[changed])}, is now ${show(current[changed])}: the runs there are of another simulation`,
    "give it its old value, or choose another --out, or leave --resume out to begin anew",
  );
}

function show(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}

function writeError(folder: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^(EEXIST|ENOTDIR|EISDIR|EACCES|EPERM|EROFS|ENOSPC)$/.test(code)) return error;
  return new InputError(
    { file: "--out" },
    `${folder} cannot be written (${code})`,
    "name a folder that you may write to, or a new one",
  );
}

function ifMissing(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
  throw error;
}
