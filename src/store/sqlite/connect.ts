import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { InputError } from "../../core/input/input-error.ts";
import { migrationsOf, migrationsToRun } from "../migrate.ts";
import { StoreUnavailable } from "../store-error.ts";

export type Connection = Sqlite.Database;

/** Opens the file, makes it where there is none, and brings its tables up to date. */
export function connect(file: string): Connection {
  try {
    mkdirSync(dirname(file), { recursive: true });
    // A new one is its owner's alone: it holds what votes are signed with, and prompts where they are kept.
    closeSync(openSync(file, "a", 0o600));
    const db = new Sqlite(file, { timeout: BUSY_MS });
    db.pragma("journal_mode = wal");
    // An fsync each commit: what is acknowledged has survived a power cut, not only a kill.
    db.pragma("synchronous = full");
    // After a burst the file beside the database shrinks again.
    db.pragma(`journal_size_limit = ${64 * 2 ** 20}`);
    db.pragma(`cache_size = -${CACHE_KB}`);
    migrate(db, file);
    return db;
  } catch (error) {
    throw openError(file, error);
  }
}

/** A second connection sees what the first has committed, and never waits for it. */
export function connectReader(file: string): Connection {
  const db = new Sqlite(file, { timeout: BUSY_MS, readonly: true });
  db.pragma(`cache_size = -${CACHE_KB}`);
  return db;
}

/** Of each connection; the driver's own 16 MB would be filled, and the system keeps the file in memory anyway. */
const CACHE_KB = 2000;

const BUSY_MS = 5000;

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
  if (code === "SQLITE_NOTADB" || code === "SQLITE_CORRUPT") {
    return new InputError(
      { file },
      "is no database, or damaged",
      "restore it from a backup, or name another folder by --data",
    );
  }
  if (/^(EACCES|EPERM|EROFS|ENOTDIR|EISDIR|EEXIST|SQLITE_CANTOPEN)/.test(code)) {
    return new InputError(
      { file },
      `cannot be opened (${code})`,
      "name a folder that you may write to by --data",
    );
  }
  return unavailable(error);
}

/** What SQLite says when disk or file fail it, as StoreUnavailable; other errors as they are. */
export function unavailable(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  return PASSING.test(error.code) ? new StoreUnavailable(error.message) : error;
}

const PASSING = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM|PROTOCOL|NOLFS)/;
