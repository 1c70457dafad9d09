import { randomInt } from "node:crypto";
import type pg from "pg";
import type { DecisionEvent } from "../events.ts";
import type { Lock } from "../log-writes.ts";
import type { Select } from "../queries.ts";
import type { LoggedRow, Row } from "../row.ts";
import { hasNul, literal, rowsOf, type Statement, sql, type Work } from "../sql.ts";
import type { Change, Store } from "../store.ts";
import type { Tally } from "../tally.ts";
import { Writes } from "../writes.ts";
import { APPEND_LOCK, KEYS_LOCK, migrate, perform, poolOf, query, transaction } from "./connect.ts";
import { addTallies } from "./counts.ts";
import { Partitions } from "./days.ts";
import { moveLegacy } from "./legacy.ts";
import { CHANNEL, Listening } from "./listen.ts";
import { record } from "./record.ts";

/** Connects to a PostgreSQL database and runs the missing migrations. */
export async function openPostgres(url: string): Promise<Store> {
  const pool = poolOf(url);
  try {
    await migrate(pool, url);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const store = new PostgresStore(pool, url, new Partitions(pool));
  await store.start();
  return store;
}

/** The store in PostgreSQL: any number of nodes append, and one node at a time learns for each router. */
class PostgresStore extends Writes implements Store {
  readonly shared = true;
  readonly #pool: pg.Pool;
  readonly #listening: Listening;
  readonly #days: Partitions;
  /** The shard of the counts that this node adds to. */
  readonly #shard = randomInt(SHARDS);

  constructor(pool: pg.Pool, url: string, days: Partitions) {
    super(selectFrom(pool), days);
    this.#pool = pool;
    this.#days = days;
    this.#listening = new Listening(url, (change) => this.listeners.tell(change));
  }

  /** Listens for changes and starts to move decisions of version 0.1. The newest are available at once. */
  async start(): Promise<void> {
    await this.#listening.connect();
    this.#days.isMoving = await moveLegacy(this.#pool, this.#days);
    this.moveInBackground(() => moveLegacy(this.#pool, this.#days));
  }

  protected transact<T>(work: Work<T>, lock?: Lock): Promise<T> {
    return transaction(this.#pool, lock ? LOCKS[lock] : "", (client) => perform(client, work));
  }

  protected run<T>(statement: Statement): Promise<readonly T[]> {
    return query(this.#pool, statement) as Promise<readonly unknown[]> as Promise<readonly T[]>;
  }

  protected now(): Statement {
    return NOW;
  }

  protected readonly forUpdate = literal("FOR UPDATE");

  protected lockBudget(owner: string): Statement[] {
    return [sql`SELECT pg_advisory_xact_lock(hashtextextended(${owner}, 7))`];
  }

  protected announce(change: Change): Statement[] {
    return [sql`SELECT pg_notify(${CHANNEL}, ${JSON.stringify(change)})`];
  }

  protected addTallies(tallies: readonly Tally[], factor?: 1 | -1): Work<void> {
    return addTallies(tallies, this.#shard, factor);
  }

  protected *insertRows(rows: readonly Row[]): Work<number[]> {
    if (rows.length === 0) return [];
    const column = (name: keyof Row) => rows.map((row) => row[name]);
    const inserted = yield* rowsOf<Pick<LoggedRow, "position">>(sql`
      INSERT INTO log (router, kind, at, decision, ballot, voter, x, body)
      SELECT router, kind, at, decision, ballot, voter, x, body
      FROM unnest(${column("router")}::text[], ${column("kind")}::text[], ${column("at")}::bigint[],
                  ${column("decision")}::text[], ${column("ballot")}::text[],
                  ${column("voter")}::text[], ${column("x")}::bytea[], ${column("body")}::text[])
        WITH ORDINALITY AS t (router, kind, at, decision, ballot, voter, x, body, ordinal)
      ORDER BY ordinal
      RETURNING position`);
    return inserted.map(({ position }) => position).sort((a, b) => a - b);
  }

  /** Removes the content of deleted rows. If that fails, autovacuum does it later. */
  protected async shrink(): Promise<boolean> {
    await this.#pool.query("VACUUM log, snapshots").catch(() => {});
    return true;
  }

  async record(
    events: readonly DecisionEvent[],
    countedOnly: readonly DecisionEvent[] = [],
  ): Promise<void> {
    if (events.length + countedOnly.length > 0) {
      return record(this.#pool, this.#days, events, countedOnly, this.#shard);
    }
    // An empty batch tests whether the database is available.
    await transaction(this.#pool, "", async () => {});
  }

  async close() {
    this.isClosed = true;
    await this.migrated();
    await this.#listening.close();
    await this.#pool.end();
  }
}

const SHARDS = 64;

/** The clock of the database in milliseconds. */
const NOW = literal("(extract(epoch FROM clock_timestamp()) * 1000)::bigint");

/**
 * Statements that take the locks. Every append holds the lock `append`. Without it, a sequence assigns positions before
 * the commit, and a reader that has seen position 8 would never read position 7, committed later: with three appenders
 * it missed 9% of the rows.
 * docs/decisions/0003-log-order-and-lease.md compares the alternatives.
 */
const LOCKS: Record<Lock, string> = { append: APPEND_LOCK, keys: KEYS_LOCK };

function selectFrom(pool: pg.Pool): Select {
  return async <T>(statement: Statement) =>
    hasNul(statement) ? [] : ((await query(pool, statement)) as T[]);
}
