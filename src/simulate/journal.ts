import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { InputError } from "../input/input-error.ts";
import { parseRecord } from "../input/rows.ts";
import type { PolicySpec } from "./policy-spec.ts";
import type { Run } from "./run.ts";

/**
 * Everything besides policy and run that decides a run's numbers: settings, data
 * and, as `code`, the fingerprint of the program.
 */
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
  static async overwrite(file: string, world: World): Promise<Journal> {
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `${JSON.stringify({ world })}\n`);
    } catch (error) {
      throw writeError(dirname(file), error);
    }
    return new Journal(file, world, new Map());
  }

  /** Begins the file; refuses where that would lose finished runs. */
  static async create(file: string, world: World): Promise<Journal> {
    const { header, runs } = await read(file);
    if (header && runs.size > 0) {
      checkWorld(file, header.world, world);
      const count = runs.size === 1 ? "a finished run" : `${runs.size} finished runs`;
      throw new InputError(
        { file },
        `holds ${count} of this simulation`,
        "add --resume to go on with them, or --overwrite to begin anew, or choose another --out",
      );
    }
    return Journal.overwrite(file, world);
  }

  /** Goes on with the file; begins it where there is none. Refuses runs of another world. */
  static async resume(file: string, world: World): Promise<Journal> {
    const { header, runs, bytes } = await read(file);
    if (!header) return Journal.overwrite(file, world);
    checkWorld(file, header.world, world);
    await truncate(file, bytes);
    return new Journal(file, world, runs);
  }

  find(policy: PolicySpec, run: number): Run | undefined {
    return this.#runs.get(keyOf(this.#world, policy, run));
  }

  add(policy: PolicySpec, run: number, result: Run): void {
    const key = keyOf(this.#world, policy, run);
    appendFileSync(this.#file, `${JSON.stringify({ key, policy: policy.name, run, result })}\n`);
  }
}

interface Written {
  /** Undefined where there is no file, or no whole line in it. */
  readonly header: Record<string, unknown> | undefined;
  readonly runs: Map<string, Run>;
  /** Length of what was written whole. */
  readonly bytes: number;
}

async function read(file: string): Promise<Written> {
  const text = await readFile(file, "utf8").catch(ifMissing);
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const [header, ...lines] = whole
    .split("\n")
    .slice(0, -1)
    .map((line, i) => parseRecord(file, { number: i + 1, text: line }));
  const runs = lines.map(({ key, result }): [string, Run] => [String(key), result as Run]);
  return { header, runs: new Map(runs), bytes: Buffer.byteLength(whole) };
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
  // The program first: a new one may have settings that the old one had not.
  const keys = new Set(["code", ...Object.keys(earlier), ...Object.keys(current)]);
  const changed = [...keys].find((key) => !isDeepStrictEqual(earlier[key], current[key]));
  if (changed === undefined) return;
  const anew = "choose another --out, or add --overwrite (without --resume) to begin anew";
  if (changed === "code") {
    throw new InputError(
      { file, line: 1, field: changed },
      "the program has changed since the runs there: their numbers need not be those of today's",
      anew,
    );
  }
  throw new InputError(
    { file, line: 1, field: changed },
    `was ${show(earlier[changed])}, is now ${show(current[changed])}: the runs there are of another simulation`,
    `give it its old value, or ${anew}`,
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
  // ENOTDIR: a file where the folder should be, which writing will complain about.
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "ENOENT" || code === "ENOTDIR") return "";
  throw error;
}
