import { Listeners } from "../changes.ts";
import { pruneInSteps } from "../prune.ts";
import type { Database } from "../queries.ts";
import { type Statement, textOf } from "../sql.ts";
import { SqlReads } from "../sql-reads.ts";
import type {
  Change,
  Entry,
  PruneQuery,
  PruneReport,
  Receipt,
  Store,
  StoredKey,
  StoredSnapshot,
} from "../store.ts";
import { type AppendResult, appender } from "./append.ts";
import { type Connection, connect, connectReader, unavailable } from "./connect.ts";
import * as writes from "./writes.ts";

/**
 * The log in one file. Everything here blocks the thread it runs on, an fsync
 * for milliseconds: `openSqlite` gives it a thread of its own.
 */
export class SqliteStore extends SqlReads implements Store {
  readonly shared = false;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #append: (entries: readonly Entry[]) => AppendResult;
  readonly #listeners = new Listeners();
  readonly #now: () => number;

  constructor(file: string, now: () => number) {
    const writer = connect(file);
    const reader = connectReader(file);
    super(reading(reader), unavailable);
    this.#writer = writer;
    this.#reader = reader;
    this.#append = appender(this.#writer);
    this.#now = now;
  }

  async append(entries: readonly Entry[]): Promise<Receipt[]> {
    const { receipts, changes } = this.#write(() => this.#append(entries));
    for (const change of changes) this.#listeners.tell(change);
    return receipts;
  }

  async acquireLease(router: string, holder: string, milliseconds: number, steal = false) {
    const now = this.#now();
    const free = steal ? Number.MAX_SAFE_INTEGER : now;
    return this.#write(() =>
      writes.acquireLease(this.#writer, router, holder, now + milliseconds, free),
    );
  }

  async renewLease(router: string, token: number, milliseconds: number) {
    const until = this.#now() + milliseconds;
    return this.#write(() => writes.renewLease(this.#writer, router, token, until));
  }

  async releaseLease(router: string, token: number) {
    this.#write(() => writes.renewLease(this.#writer, router, token, this.#now() - 1));
  }

  async saveSnapshot(snapshot: StoredSnapshot, token: number) {
    this.#write(() => writes.saveSnapshot(this.#writer, snapshot, token));
    const { router, position } = snapshot;
    this.#listeners.tell({ router, what: "snapshot", position });
  }

  prune(what: PruneQuery): Promise<PruneReport> {
    return pruneInSteps((limit) => this.#write(() => writes.pruneStep(this.#writer, what, limit)));
  }

  async saveKey(key: StoredKey) {
    this.#write(() => writes.saveKey(this.#writer, key));
  }

  async secret(name: string) {
    return this.#write(() => writes.secret(this.#writer, name));
  }

  onChange(listener: (change: Change) => void) {
    return this.#listeners.add(listener);
  }

  /** The file's greatest size: a disk that is full without filling one. */
  limitPages(pages: number): void {
    this.#writer.pragma(`max_page_count = ${pages}`);
  }

  async close() {
    this.#reader.close();
    this.#writer.close();
  }

  #write<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function reading(db: Connection): Database {
  return {
    rows: async <T>(statement: Statement) =>
      db.prepare<unknown[], T>(textOf(statement, () => "?")).all(...statement.values),
  };
}
