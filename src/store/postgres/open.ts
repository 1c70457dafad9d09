import type pg from "pg";
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
import { append } from "./append.ts";
import { migrate, poolOf, unavailable } from "./connect.ts";
import { Listening } from "./listen.ts";
import * as writes from "./writes.ts";

/** Connects to a PostgreSQL database and runs the missing migrations. */
export async function openPostgres(url: string): Promise<Store> {
  const pool = poolOf(url);
  try {
    await migrate(pool, url);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const store = new PostgresStore(pool, url);
  await store.listen();
  return store;
}

/** The store in PostgreSQL: any number of nodes append, and one node at a time learns for each router. */
class PostgresStore extends Queries implements Store {
  readonly shared = true;
  readonly #pool: pg.Pool;
  readonly #listeners = new Listeners();
  readonly #listening: Listening;

  constructor(pool: pg.Pool, url: string) {
    super(selectFrom(pool));
    this.#pool = pool;
    this.#listening = new Listening(url, (change) => this.#listeners.tell(change));
  }

  listen(): Promise<void> {
    return this.#listening.connect();
  }

  append(entries: readonly Entry[]): Promise<Receipt[]> {
    return append(this.#pool, entries);
  }

  acquireLease(router: string, holder: string, milliseconds: number, steal = false) {
    return writes.acquireLease(this.#pool, router, holder, milliseconds, steal);
  }

  renewLease(router: string, token: number, milliseconds: number) {
    return writes.renewLease(this.#pool, router, token, milliseconds);
  }

  async releaseLease(router: string, token: number) {
    await writes.renewLease(this.#pool, router, token, -1);
  }

  saveSnapshot(snapshot: StoredSnapshot, token: number) {
    return writes.saveSnapshot(this.#pool, snapshot, token);
  }

  prune(what: PruneQuery): Promise<PruneReport> {
    return pruneInSteps((limit) => writes.pruneStep(this.#pool, what, limit));
  }

  saveKey(key: StoredKey) {
    return writes.saveKey(this.#pool, key);
  }

  secret(name: string) {
    return writes.secret(this.#pool, name);
  }

  onChange(listener: (change: Change) => void) {
    return this.#listeners.add(listener);
  }

  async close() {
    await this.#listening.close();
    await this.#pool.end();
  }
}

function selectFrom(pool: pg.Pool): Select {
  return async <T>(statement: Parameters<Select>[0]) => {
    try {
      const text = textOf(statement, (n) => `$${n}`);
      const { rows } = await pool.query(text, [...statement.values]);
      return rows as T[];
    } catch (error) {
      throw unavailable(error);
    }
  };
}
