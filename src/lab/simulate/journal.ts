import { appendFileSync, existsSync } from "node:fs";
import { mkdir, readFile, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { InputError } from "../../core/input/input-error.ts";
import { codeOf, writeError } from "../../core/input/system-error.ts";
import type { Result } from "../jobs/job.ts";
import { digestOf, type Store } from "../jobs/store.ts";
import type { Run } from "./run.ts";

/** Everything that decides the numbers of all runs, except the policy: data, settings, code. */
export type Conditions = Readonly<Record<string, unknown>>;

/**
 * The finished runs of a simulation in a file of lines, so that an interrupted
 * simulation can continue. The first line holds the conditions, each further line one
 * run. Lines are appended whole; a line that a crash has cut short is dropped.
 */
export class Journal implements Store {
  readonly #file: string | undefined;
  readonly #runs: Map<string, Run>;

  private constructor(file: string | undefined, runs = new Map<string, Run>()) {
    this.#file = file;
    this.#runs = runs;
  }

  /** A journal that is kept in memory only. */
  static inMemory(): Journal {
    return new Journal(undefined);
  }

  /** Starts a new file in place of an existing one. */
  static async overwrite(file: string, conditions: Conditions): Promise<Journal> {
    try {
      await makeFolder(dirname(file));
      await writeFile(file, `${JSON.stringify({ conditions })}\n`);
    } catch (error) {
      throw writeError(dirname(file), error, ELSEWHERE);
    }
    return new Journal(file);
  }

  /** Starts a new file; refuses if that would lose finished runs. */
  static async create(file: string, conditions: Conditions): Promise<Journal> {
    const { header, runs } = await read(file);
    if (header && runs.size > 0) {
      checkConditions(file, header.conditions, conditions);
      const count = runs.size === 1 ? "one finished run" : `${runs.size} finished runs`;
      throw new InputError(
        { file },
        `holds ${count} of this simulation`,
        "add --resume to keep them and do the rest, or --overwrite to start again, or choose another --out",
      );
    }
    return Journal.overwrite(file, conditions);
  }

  /** Continues a file, or starts it if there is none; refuses runs under other conditions. */
  static async resume(file: string, conditions: Conditions): Promise<Journal> {
    const { header, runs, bytes } = await read(file);
    if (!header) return Journal.overwrite(file, conditions);
    checkConditions(file, header.conditions, conditions);
    await truncate(file, bytes);
    return new Journal(file, runs);
  }

  run(key: string): Run | undefined {
    return this.#runs.get(key);
  }

  async find(key: string): Promise<string | undefined> {
    const value = this.#runs.get(key);
    return value && digestOf({ value });
  }

  async get(key: string): Promise<Result> {
    return { value: this.#runs.get(key) };
  }

  async put(key: string, { value }: Result): Promise<void> {
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify({ key, value })}\n`);
    this.#runs.set(key, value as Run);
  }

  exclusively<T>(_key: string, work: () => Promise<T>): Promise<T> {
    return work();
  }
}

interface Content {
  /** Undefined if there is no file, or no complete line in it. */
  readonly header: Record<string, unknown> | undefined;
  readonly runs: Map<string, Run>;
  /** Length of the complete lines. */
  readonly bytes: number;
}

async function read(file: string): Promise<Content> {
  const text = await readFile(file, "utf8").catch(ifMissing);
  if (!START.startsWith(text.slice(0, START.length))) {
    throw new InputError(
      { file, line: 1 },
      "is not the record of a simulation",
      `choose another --out, or ${OVERWRITE}`,
    );
  }
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  const [header, ...lines] = complete.split("\n").slice(0, -1);
  return {
    header: header === undefined ? undefined : parseLine(file, header, 1),
    runs: new Map(lines.map((line, i) => runOf(file, line, i + 2))),
    bytes: Buffer.byteLength(complete),
  };
}

const ELSEWHERE = "choose another --out, one that you may write to";
/** The start of every journal. */
const START = '{"conditions":';
const OVERWRITE = "add --overwrite (without --resume) to start again";

function runOf(file: string, line: string, number: number): [key: string, run: Run] {
  const { key, value } = parseLine(file, line, number);
  if (typeof key === "string" && isRecord(value)) return [key, value as unknown as Run];
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
  const hint = line === 1 ? "choose another --out" : "delete that line to repeat its run";
  return new InputError({ file, line }, "is damaged", `${hint}, or ${OVERWRITE}`);
}

function checkConditions(file: string, then: unknown, now: Conditions): void {
  const current = JSON.parse(JSON.stringify(now)) as Conditions; // without undefined fields
  const earlier: Conditions = isRecord(then) ? then : {};
  // The code first: a new program may have settings that the old one did not have.
  const names = new Set(["code", ...Object.keys(earlier), ...Object.keys(current)]);
  const field = [...names].find((name) => !isDeepStrictEqual(earlier[name], current[name]));
  if (field === undefined) return;
  const restart = `choose another --out, or ${OVERWRITE}`;
  if (field === "code") {
    throw new InputError(
      { file, line: 1, field },
      "the program has changed since these runs, so their numbers may differ from those of today",
      restart,
    );
  }
  throw new InputError(
    { file, line: 1, field },
    `was ${show(earlier[field])}, is now ${show(current[field])}: the runs belong to another simulation`,
    `give it the old value, or ${restart}`,
  );
}

function show(value: unknown): string {
  return value === undefined ? "not set" : JSON.stringify(value);
}

/** Like `mkdir -p`. Node's own never returns below a parent that fails with ENOENT, such as /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return; // writing will fail if it is a file
    if (code !== "ENOENT") throw error;
    if (existsSync(dirname(path))) {
      throw new InputError({ file: path }, `cannot be written (${code})`, ELSEWHERE);
    }
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

function ifMissing(error: unknown): string {
  // ENOTDIR: a file stands in place of the folder; writing will report it.
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return "";
  throw error;
}
