import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { DAY_MS } from "../decision-id.ts";
import type { Days, DayTables } from "../decision-queries.ts";
import { literal, type Statement } from "../sql.ts";
import type { Counts } from "../tally.ts";
import {
  BUSY_MS,
  type Connection,
  createPrivately,
  isDamage,
  prepareFile,
  translated,
} from "./connect.ts";
import { spendingAdder, tallyAdder } from "./counts.ts";
import { completeDay, DAY_SCHEMA } from "./day-schema.ts";
import { selectRows } from "./kept-statements.ts";

/**
 * Decisions, answers and their counts in one file per day, in a folder beside the main file:
 * joust-decisions/2026-11-16.db. Deleting a day deletes its file, which returns the space.
 */
export class DayFiles implements Days {
  readonly folder: string;
  readonly #main: Connection;
  /** The open files, the most recently used last. */
  readonly #open = new Map<number, Connection>();
  /** Deletions that are under way. */
  readonly #deletions = new Set<Promise<void>>();
  isMoving = false;

  /** `main` is the writing connection to the main file, which keeps the counts of deleted days. */
  constructor(file: string, main: Connection) {
    this.folder = folderOf(file);
    this.#main = main;
    // A kill may have interrupted deletions.
    for (const day of this.#dropped()) this.#locked(() => this.#removeDropped(day));
    for (const file of droppedIn(this.folder)) this.#delete(file);
  }

  async list(): Promise<number[]> {
    const days = daysIn(this.folder);
    // The space of a day that another process has dropped is returned when its file is closed.
    for (const day of [...this.#open.keys()]) if (!days.includes(day)) this.#close(day);
    return days;
  }

  of(day: number): DayTables {
    return {
      select: async <T>(statement: Statement) => {
        // Opening a file takes milliseconds, so calls that wait run before it.
        if (!this.#open.has(day)) await setImmediate();
        // Reading must not create the file of a day that another process has dropped.
        if (!existsSync(fileOf(this.folder, day))) return [];
        return this.use(day, (db) => selectRows<T>(db, statement));
      },
      decisions: literal("decisions"),
      answers: literal("answers"),
    };
  }

  async withCounts(from: number, to: number): Promise<number[]> {
    const dropped = this.#dropped();
    return daysIn(this.folder).filter((day) => day >= from && day <= to && !dropped.includes(day));
  }

  /** Runs `work` on the file of a day, which is created if necessary. A damaged file is set aside. */
  use<T>(day: number, work: (db: Connection) => T): T {
    return translated(() => {
      // A file that another process has dropped must not be written to.
      if (!existsSync(fileOf(this.folder, day))) this.#close(day);
      try {
        return work(this.#connection(day));
      } catch (error) {
        if (!isDamage(error)) throw error;
        this.#setAside(day);
        return work(this.#connection(day));
      }
    });
  }

  #connection(day: number): Connection {
    const open = this.#open.get(day);
    const db = open ?? openDay(fileOf(this.folder, day));
    // The map keeps its order of insertion, so that the first entry is the least recently used one.
    this.#open.delete(day);
    this.#open.set(day, db);
    if (this.#open.size > MOST_OPEN) this.#close(this.#open.keys().next().value!);
    return db;
  }

  #close(day: number): void {
    this.#open.get(day)?.close();
    this.#open.delete(day);
  }

  /** Renames a damaged file, so that it can be examined and the day can continue. */
  #setAside(day: number): void {
    this.#close(day);
    moveAway(fileOf(this.folder, day), ".damaged");
  }

  /** Deletes the days that ended before a time, and adds their counts to those of the main file. */
  async drop(before: number): Promise<number> {
    let decisions = 0;
    for (const day of daysIn(this.folder)) {
      if ((day + 1) * DAY_MS > before) break;
      decisions += this.#drop(day);
      // A drop waits for the disk, so calls that wait run before the next one.
      await setImmediate();
    }
    return decisions;
  }

  /**
   * Drops a day in two steps, each under the lock of the main file, because another process may drop it
   * at the same time. Between them, a mark in `dropped_days` says that the counts were copied.
   */
  #drop(day: number): number {
    const decisions = this.#locked(() => this.#keepCounts(day));
    this.#locked(() => this.#removeDropped(day));
    return decisions;
  }

  /** Runs a transaction of the main file, whose lock makes other processes wait. */
  #locked<T>(work: () => T): T {
    return translated(() => this.#main.transaction(work).immediate());
  }

  /** Copies the counts of a day and marks it. Returns the number of its decisions. */
  #keepCounts(day: number): number {
    // Another process may have dropped it.
    if (!existsSync(fileOf(this.folder, day))) return 0;
    const { decisions, tallies, spent } = this.use(day, (db) => ({
      // Rows are only ever added, so the highest row id is their number. Counting would read all of them.
      decisions: db
        .prepare<[], number>("SELECT coalesce(max(rowid), 0) FROM decisions")
        .pluck()
        .get()!,
      tallies: db.prepare<[], TallyRow>("SELECT * FROM tallies").all(),
      spent: db.prepare<[], SpendingRow>("SELECT * FROM spending").all(),
    }));
    if (this.#dropped().includes(day)) return decisions;
    this.#main.prepare("INSERT INTO dropped_days (day) VALUES (?)").run(day);
    tallyAdder(this.#main)(
      tallies.map(({ router, bucket, model, ...counts }) => ({ router, bucket, model, counts })),
    );
    spendingAdder(this.#main)(spent);
    return decisions;
  }

  /** Deletes the file of a marked day, and the mark. A later decision of the day creates a new file. */
  #removeDropped(day: number): void {
    this.#close(day);
    if (!this.#dropped().includes(day)) return;
    this.#delete(moveAway(fileOf(this.folder, day), DROPPED));
    this.#main.prepare("DELETE FROM dropped_days WHERE day = ?").run(day);
  }

  /** Days whose counts are in the main file although their own file may still exist. */
  #dropped(): number[] {
    return this.#main.prepare<[], number>("SELECT day FROM dropped_days").pluck().all();
  }

  /** Deletes a file in the background, because the file system takes longer for a large one. */
  #delete(file: string): void {
    const deletion = rm(file, { force: true })
      .catch(() => {})
      .finally(() => this.#deletions.delete(deletion));
    this.#deletions.add(deletion);
  }

  async close(): Promise<void> {
    for (const day of [...this.#open.keys()]) this.#close(day);
    await Promise.all(this.#deletions);
  }
}

/** Number of files that stay open: a month of days and some more, because a budget is compared with the sum of a month. */
const MOST_OPEN = 40;

type TallyRow = { router: string; bucket: number; model: string } & Counts;
type SpendingRow = { owner: string; month: string; cost: number };

/** The folder of the days that belong to a main file. */
export function folderOf(file: string): string {
  return join(dirname(file), `${basename(file, ".db")}-decisions`);
}

/** Days that have a file, in days since 1970, oldest first. */
export function daysIn(folder: string): number[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^\d{4}-\d\d-\d\d\.db$/.test(name))
    .map((name) => Date.parse(name.slice(0, 10)) / DAY_MS)
    .sort((a, b) => a - b);
}

export function fileOf(folder: string, day: number): string {
  return join(folder, `${new Date(day * DAY_MS).toISOString().slice(0, 10)}.db`);
}

function openDay(file: string): Connection {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  createPrivately(file);
  const db = new Sqlite(file, { timeout: BUSY_MS });
  try {
    prepareFile(db);
    // There is no fsync per commit. After a power failure the last decisions may be missing; votes
    // on them still work, because their vote tokens contain what a vote needs.
    db.pragma("synchronous = normal");
    db.transaction(() => {
      db.exec(DAY_SCHEMA);
      completeDay(db);
    }).immediate();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Renames the file of a day, if it exists, so that it is no longer read. Returns the new name. */
function moveAway(file: string, suffix: string): string {
  const moved = `${file}${suffix}`;
  if (existsSync(file)) renameSync(file, moved);
  for (const end of ["-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
  return moved;
}

/** End of the names of files whose days were dropped, until they are deleted. */
const DROPPED = ".dropped";

function droppedIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(DROPPED));
  return names.map((name) => join(folder, name));
}
