import pg from "pg";
import { InputError } from "../../core/input/input-error.ts";
import { migrationsOf, migrationsToRun } from "../migrate.ts";
import { type Statement, textOf, type Work } from "../sql.ts";
import { StoreUnavailable } from "../store-error.ts";

/** Time limit of a statement and of connecting. */
const TIMEOUT_MS = 5000;

/** Parses int8 as a number: positions and milliseconds stay below 2^53. */
const types = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

export function poolOf(url: string): pg.Pool {
  const pool = new pg.Pool({ ...configOf(url), max: 5, query_timeout: 2 * TIMEOUT_MS });
  // The pool replaces a broken connection, and the next query reports the error. Both listeners are
  // needed: the pool handles errors of idle connections only, and an error of a connection in use
  // between two statements would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function configOf(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    keepAlive: true,
    application_name: "joust",
    types,
  };
}

/**
 * Runs `work` in a transaction that starts with the statement `begin`. The isolation level is
 * always READ COMMITTED, so that after waiting for a lock it sees what the last holder committed.
 * The idle timeout releases the locks of a node that is stopped during the transaction. Commits are
 * durable even if the server's default is asynchronous commit, unless `begin` changes that.
 */
export async function transaction<T>(
  pool: pg.Pool,
  begin: string,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  let client: pg.PoolClient | undefined;
  try {
    client = await pool.connect();
    await client.query(`
      BEGIN ISOLATION LEVEL READ COMMITTED;
      SET LOCAL statement_timeout = ${TIMEOUT_MS};
      SET LOCAL idle_in_transaction_session_timeout = ${TIMEOUT_MS / 2};
      SELECT set_config('synchronous_commit', 'on', true)
        WHERE current_setting('synchronous_commit') = 'off';
      ${begin}`);
    const result = await work(client);
    await client.query("COMMIT");
    client.release();
    return result;
  } catch (error) {
    // The state of the connection is unknown. Closing it rolls the transaction back.
    client?.release(true);
    throw unavailable(error);
  }
}

/** Runs a statement outside a transaction. */
export async function query<R extends pg.QueryResultRow>(
  pool: pg.Pool,
  statement: Statement,
): Promise<R[]> {
  try {
    return (await pool.query<R>(textOf(statement, mark), [...statement.values])).rows;
  } catch (error) {
    throw unavailable(error);
  }
}

/** Runs the statements of a transaction, one after the other. */
export async function perform<T>(client: pg.PoolClient, work: Work<T>): Promise<T> {
  let step = work.next();
  while (!step.done) {
    const { value } = step;
    step = work.next((await client.query(textOf(value, mark), [...value.values])).rows);
  }
  return step.value;
}

function mark(number: number): string {
  return `$${number}`;
}

/** Runs the missing migrations. A lock lets only one of several starting nodes do so. */
export async function migrate(pool: pg.Pool, url: string): Promise<void> {
  await pool.query("SELECT 1").catch((error: unknown) => {
    throw connectError(url, error);
  });
  // A connection without time limits: copying the votes of a large log takes longer than a query.
  const client = new pg.Client(configOf(url));
  client.on("error", () => {});
  await client.connect().catch((error: unknown) => {
    throw connectError(url, error);
  });
  try {
    await client.query(`BEGIN; ${MIGRATION_LOCK}`);
    await client.query(
      "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, name text NOT NULL)",
    );
    const { rows } = await client.query<{ number: number }>("SELECT number FROM migrations");
    const done = rows.map(({ number }) => number);
    const missing = migrationsToRun(migrationsOf("postgres"), done, addressOf(url));
    for (const { number, name, sql } of missing) {
      await client.query(sql);
      await client.query("INSERT INTO migrations (number, name) VALUES ($1, $2)", [number, name]);
    }
    await client.query("COMMIT");
  } catch (error) {
    throw unavailable(error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** First key of our advisory locks ("jous" in ASCII), so that they differ from those of other programs. */
const LOCK_SPACE = 0x6a6f7573;

/** A statement that waits for an advisory lock and holds it until the commit is visible to all. */
function lock(number: number): string {
  return `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${number})`;
}

/** Every append of votes and controls holds this lock, so that positions follow the order of commits. */
export const APPEND_LOCK = lock(1);
const MIGRATION_LOCK = lock(2);
/** Lock that is held while a day is created or dropped. Appends of decisions do not need it. */
export const DAYS_LOCK = lock(3);
/** Lock that is held by the node that moves decisions of version 0.1. */
export const LEGACY_LOCK = lock(4);
/** Lock that is held while an API key is added or changed. */
export const KEYS_LOCK = lock(5);

/** Host and database of a URL, without user and password. */
function addressOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return "--database";
  }
}

/** Converts errors of the first connection into InputError: at start, unlike later, the operator must fix them. */
function connectError(url: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  const remedy = REMEDIES[code];
  if (remedy) return new InputError({ file: addressOf(url) }, error.message, remedy);
  if (!(unavailable(error) instanceof StoreUnavailable)) return error;
  // An error for a host with two addresses has no message.
  const problem = `cannot be reached: ${error.message || code}`;
  return new InputError({ file: addressOf(url) }, problem, UNREACHABLE);
}

const UNREACHABLE = "start the database, or check the host and port in the address";

const REMEDIES: Record<string, string> = {
  ENOTFOUND: "check the host in the address",
  "28P01": "check the user and password in the address",
  "28000": "check the user and password in the address",
  "3D000": "create the database first: createdb NAME",
  "42501": "allow the user to create tables: GRANT CREATE ON SCHEMA public TO NAME",
};

/**
 * Converts temporary errors into StoreUnavailable: connection lost or refused, also because of the
 * password, timeout, shutdown, out of disk or memory, too many connections, a read-only standby.
 * Nothing was acknowledged in these cases. Other errors are defects and are returned unchanged.
 */
function unavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  const code = "code" in error ? String(error.code) : "";
  const isTemporary =
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|08|28|3D|53|57|58|55|40|25006|25P0)/.test(
      code,
    ) || /connection|timeout|terminat|not queryable|pool after/i.test(error.message);
  return isTemporary ? new StoreUnavailable(error.message) : error;
}
