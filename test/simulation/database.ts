import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

/** A file system in memory, where there is one. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/**
 * The database that all simulated nodes share: the real SQLite store on a file that is not synced to
 * the disk. Many simulations use it one after the other.
 */
export class Database {
  readonly store: SqliteStore;
  /** Another connection to the same file. It empties tables and plants bugs. */
  readonly sql: Sqlite.Database;
  /** Clock of the database in milliseconds since 1970. */
  now: () => number = () => 0;
  readonly #folder: string;

  constructor() {
    this.#folder = mkdtempSync(join(FOLDER, "joust-simulation-"));
    const file = join(this.#folder, "joust.db");
    this.store = new SqliteStore(file, () => this.now(), false);
    this.sql = new Sqlite(file);
    this.sql.pragma("synchronous = off");
  }

  /** Empties all tables, so that positions start with 1 again. */
  clear(): void {
    const tables = this.sql
      .prepare<[], string>(`
        SELECT name FROM sqlite_master
        WHERE type = 'table' AND name NOT IN ('migrations') AND (name = 'sqlite_sequence' OR name NOT LIKE 'sqlite_%')`)
      .pluck()
      .all();
    this.sql.transaction(() => {
      for (const table of tables) this.sql.exec(`DELETE FROM ${table}`);
    })();
  }

  async close(): Promise<void> {
    this.sql.close();
    await this.store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
