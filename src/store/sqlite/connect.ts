import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { InputError } from "../../core/input/input-error.ts";
import { migrationsOf, migrationsToRun } from "../migrate.ts";
import { checksumOf, type LoggedRow } from "../row.ts";
import { StoreUnavailable } from "../store-error.ts";
import { checkFile, checkLog, damaged, dropDamagedSnapshots } from "./check.ts";

export type Connection = Sqlite.Database;

/**
 * Opens or creates the main file, checks it and runs the missing migrations. Throws InputError if
 * the file is damaged: nothing may be acknowledged into a file that cannot be read back. Without
 * `isDurable`, a commit does not wait for the disk.
 */
export function connect(file: string, isDurable = true): Connection {
  let db: Connection | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    createPrivately(file);
    const hadUnmerged = (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    db = new Sqlite(file, { timeout: BUSY_MS });
    // Takes effect only in a new file: freed pages can be returned to the file system.
    db.pragma("auto_vacuum = incremental");
    prepareFile(db);
    // One fsync per commit, so that an acknowledged vote survives a power failure and not only a kill.
    db.pragma(`synchronous = ${isDurable ? "full" : "off"}`);
    // Deleted content is overwritten, so that nothing of a forgotten voter stays in the file.
    db.pragma("secure_delete = on");
    db.function("log_checksum", { varargs: true, deterministic: true }, checksumOfColumns);
    checkFile(db, file);
    migrate(db, file);
    checkLog(db, file, hadUnmerged);
    dropDamagedSnapshots(db, file);
    return db;
  } catch (error) {
    db?.close();
    throw openError(file, error);
  }
}

/** Creates a file that only its owner may read: it contains the secrets of vote tokens, and possibly prompts. */
export function createPrivately(file: string): void {
  closeSync(openSync(file, "a", 0o600));
}

/** Settings that all files have. */
export function prepareFile(db: Connection): void {
  db.pragma("journal_mode = wal");
  // Shrinks the write-ahead log again after a burst.
  db.pragma(`journal_size_limit = ${64 * 2 ** 20}`);
  db.pragma(`cache_size = -${CACHE_KB}`);
}

/** Opens a second connection for reading. It sees committed data and never waits for the writer. */
export function connectReader(file: string): Connection {
  const db = new Sqlite(file, { timeout: BUSY_MS, readonly: true });
  db.pragma(`cache_size = -${CACHE_KB}`);
  return db;
}

/** Page cache per connection. The driver's default of 16 MB would fill up although the operating system caches the file too. */
const CACHE_KB = 2000;

/** Time that a statement waits for the lock of another process. */
export const BUSY_MS = 5000;

function checksumOfColumns(...columns: unknown[]): number {
  const [position, router, kind, at, decision, ballot, voter, x, body] = columns;
  return checksumOf({
    position,
    router,
    kind,
    at,
    decision,
    ballot,
    voter,
    x,
    body,
  } as LoggedRow);
}

function migrate(db: Connection, file: string): void {
  db.exec("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)");
  const run = db.transaction(() => {
    const done = db.prepare<[], number>("SELECT number FROM migrations").pluck().all();
    for (const { number, name, sql } of migrationsToRun(migrationsOf("sqlite"), done, file)) {
      db.exec(sql);
      db.prepare("INSERT INTO migrations (number, name) VALUES (?, ?)").run(number, name);
    }
  });
  run.immediate();
}

function openError(file: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^(EACCES|EPERM|EROFS|ENOTDIR|EISDIR|EEXIST|SQLITE_CANTOPEN)/.test(code)) {
    return new InputError(
      { file },
      `cannot be opened (${code})`,
      "choose a folder that you can write to with --data",
    );
  }
  if (!(error instanceof Sqlite.SqliteError)) return error;
  if (TEMPORARY.test(code)) return unavailable(error);
  return damaged(file, `is not a SQLite database, or it is damaged (${error.message})`);
}

/** Converts errors of the disk, of locking and of damage into StoreUnavailable and returns other errors unchanged. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  if (isDamage(error)) {
    return new StoreUnavailable(`${error.message}; stop joust and run "joust verify"`, 60);
  }
  return TEMPORARY.test(error.code) ? new StoreUnavailable(error.message) : error;
}

export function isDamage(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
}

const TEMPORARY = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM|PROTOCOL|NOLFS)/;

/** Runs a function and converts its errors with `unavailable`. */
export function translated<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw unavailable(error);
  }
}
