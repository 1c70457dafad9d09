import { Listeners } from "../changes.ts";
import { pruneInSteps } from "../prune.ts";
import { Queries, type Select } from "../queries.ts";
import { textOf } from "../sql.ts";
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
 * The store in one SQLite file. Its methods block their thread, for milliseconds during an fsync,
 * so `openSqlite` runs it on a separate thread.
 */
export class SqliteStore extends Queries implements Store {
  readonly shared = false;
  readonly #writer: Connection;
  readonly #reader: Connection;
  readonly #append: (entries: readonly Entry[]) => AppendResult;
  readonly #listeners = new Listeners();
  readonly #now: () => number;

  constructor(file: string, now: () => number) {
    const writer = connect(file);
    const reader = connectReader(file);
    super(selectFrom(reader));
    this.#writer = writer;
    this.#reader = reader;
    this.#append = appender(writer);
    this.#now = now;
  }

  async append(entries: readonly Entry[]): Promise<Receipt[]> {
    const { receipts, changes } = translated(() => this.#append(entries));
    for (const change of changes) this.#listeners.tell(change);
    return receipts;
  }

  async acquireLease(router: string, holder: string, milliseconds: number, steal = false) {
    const now = this.#now();
    const free = steal ? Number.MAX_SAFE_INTEGER : now;
    const until = now + milliseconds;
    return translated(() => writes.acquireLease(this.#writer, router, holder, until, free));
  }

  async renewLease(router: string, token: number, milliseconds: number) {
    const until = this.#now() + milliseconds;
    return translated(() => writes.renewLease(this.#writer, router, token, until));
  }

  async releaseLease(router: string, token: number) {
    translated(() => writes.renewLease(this.#writer, router, token, this.#now() - 1));
  }

  async saveSnapshot(snapshot: StoredSnapshot, token: number) {
    translated(() => writes.saveSnapshot(this.#writer, snapshot, token));
    const { router, position } = snapshot;
    this.#listeners.tell({ router, what: "snapshot", position });
  }

  prune(what: PruneQuery): Promise<PruneReport> {
    return pruneInSteps((limit) => translated(() => writes.pruneStep(this.#writer, what, limit)));
  }

  async saveKey(key: StoredKey) {
    translated(() => writes.saveKey(this.#writer, key));
  }

  async secret(name: string) {
    return translated(() => writes.secret(this.#writer, name));
  }

  onChange(listener: (change: Change) => void) {
    return this.#listeners.add(listener);
  }

  /** Limits the size of the file. Tests use it to simulate a full disk. */
  limitPages(pages: number): void {
    this.#writer.pragma(`max_page_count = ${pages}`);
  }

  async close() {
    this.#reader.close();
    this.#writer.close();
  }
}

function selectFrom(db: Connection): Select {
  return async <T>(statement: Parameters<Select>[0]) =>
    translated(() => {
      const text = textOf(statement, () => "?");
      return db.prepare<unknown[], T>(text).all(...statement.values);
    });
}

/** Runs a function and converts its errors with `unavailable`. */
function translated<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw unavailable(error);
  }
}
