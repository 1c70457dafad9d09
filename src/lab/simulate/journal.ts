import { createHash } from "node:crypto";
import { appendFileSync, existsSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { InputError } from "../../core/input/input-error.ts";
import { codeOf, writeError } from "../../core/input/system-error.ts";
import type { PolicySpec } from "../policies/policy-spec.ts";
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
      await makeFolder(dirname(file));
      await writeFile(file, `${JSON.stringify({ world })}\n`);
    } catch (error) {
      throw writeError(dirname(file), error, ELSEWHERE);
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
  const begun = text.slice(0, BEGIN.length);
  if (!BEGIN.startsWith(begun)) {
    const problem = "is not the record of a simulation";
    throw new InputError({ file, line: 1 }, problem, `choose another --out, or ${ANEW}`);
  }
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const [header, ...lines] = whole.split("\n").slice(0, -1);
  return {
    header: header === undefined ? undefined : parseLine(file, header, 1),
    runs: new Map(lines.map((line, i) => runOf(file, line, i + 2))),
    bytes: Buffer.byteLength(whole),
  };
}

const ELSEWHERE = "choose another --out, one that you may write to";
/** How every file of these begins. */
const BEGIN = '{"world":';
const ANEW = "add --overwrite (without --resume) to begin anew";

function runOf(file: string, line: string, number: number): [key: string, run: Run] {
  const { key, result } = parseLine(file, line, number);
  if (typeof key === "string" && isRecord(result)) return [key, result as unknown as Run];
  throw damaged(file, number);
}

function parseLine(file: string, line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {}
  throw damaged(file, number);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function damaged(file: string, line: number): InputError {
  const remedy =
    line === 1
      ? `choose another --out, or ${ANEW}`
      : `delete that line, whose run is then done again, or ${ANEW}`;
  return new InputError({ file, line }, "is damaged", remedy);
}

/** A policy's name is no part of it: two spellings of the same options are the same runs. */
function keyOf(world: World, { kind, options, router, module }: PolicySpec, run: number): string {
  const policy = { kind, options, router, sha256: module?.sha256 };
  return createHash("sha256").update(JSON.stringify({ world, policy, run })).digest("hex");
}

function checkWorld(file: string, then: unknown, now: World): void {
  // As JSON has it: a setting that is undefined is none.
  const current = JSON.parse(JSON.stringify(now)) as World;
  const earlier: World = isRecord(then) ? then : {};
  // The program first: a new one may have settings that the old one had not.
  const keys = new Set(["code", ...Object.keys(earlier), ...Object.keys(current)]);
  const changed = [...keys].find((key) => !isDeepStrictEqual(earlier[key], current[key]));
  if (changed === undefined) return;
  const anew = `choose another --out, or ${ANEW}`;
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

/** mkdir -p. Node's own never returns below a parent that refuses with ENOENT, as /proc does. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return; // a file in its place is found when something is written
    if (code !== "ENOENT") throw error;
    if (existsSync(dirname(path))) {
      throw new InputError({ file: path }, `cannot be written (${code})`, ELSEWHERE);
    }
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

function ifMissing(error: unknown): string {
  // ENOTDIR: a file where the folder should be, which writing will complain about.
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return "";
  throw error;
}
