import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { InputError } from "../../core/input/input-error.ts";
import { migrationsOf, migrationsToRun } from "../migrate.ts";
import { StoreUnavailable } from "../store-error.ts";

export type Connection = Sqlite.Database;

/** Opens or creates the file and runs the missing migrations. */
export function connect(file: string): Connection {
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Only the owner may read a new file: it contains the secret that signs vote tokens, and possibly prompts.
    closeSync(openSync(file, "a", 0o600));
    const db = new Sqlite(file, { timeout: BUSY_MS });
    db.pragma("journal_mode = wal");
    // One fsync per commit, so that an acknowledged entry survives a power failure and not only a kill.
    db.pragma("synchronous = full");
    // Shrinks the write-ahead log again after a burst.
    db.pragma(`journal_size_limit = ${64 * 2 ** 20}`);
    db.pragma(`cache_size = -${CACHE_KB}`);
    migrate(db, file);
    return db;
  } catch (error) {
    throw openError(file, error);
  }
}

/** Opens a second connection for reading. It sees committed data and never waits for the writer. */
export function connectReader(file: string): Connection {
  const db = new Sqlite(file, { timeout: BUSY_MS, readonly: true });
  db.pragma(`cache_size = -${CACHE_KB}`);
  return db;
}

/** Page cache per connection. The driver's default of 16 MB would fill up although the operating system caches the file too. */
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
      "is not a SQLite database, or it is damaged",
      "restore it from a backup, or choose another folder with --data",
    );
  }
  if (/^(EACCES|EPERM|EROFS|ENOTDIR|EISDIR|EEXIST|SQLITE_CANTOPEN)/.test(code)) {
    return new InputError(
      { file },
      `cannot be opened (${code})`,
      "choose a folder that you can write to with --data",
    );
  }
  return unavailable(error);
}

/** Converts errors of the disk or of locking into StoreUnavailable and returns other errors unchanged. */
export function unavailable(error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  return TEMPORARY.test(error.code) ? new StoreUnavailable(error.message) : error;
}

const TEMPORARY = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|READONLY|CANTOPEN|NOMEM|PROTOCOL|NOLFS)/;
