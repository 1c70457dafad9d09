import pg from "pg";
import { InputError } from "../../core/input/input-error.ts";
import { migrationsOf, migrationsToRun } from "../migrate.ts";
import { StoreUnavailable } from "../store-error.ts";

/** A transaction that is not through by then is given up: nobody waits for ever. */
const TIMEOUT_MS = 5000;

/** int8 as a number: positions and milliseconds stay below 2^53. */
const types = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8
      ? Number
      : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

export function poolOf(url: string): pg.Pool {
  const pool = new pg.Pool({ ...configOf(url), max: 5, query_timeout: 2 * TIMEOUT_MS });
  // A connection that breaks is replaced, and whoever uses one next hears of it. The pool listens only
  // while one is idle: one that breaks between the statements of a transaction would end the program.
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
 * Runs `work` in a transaction. READ COMMITTED whatever the server's default is:
 * what comes after waiting for a lock must see what its last holder committed. A
 * node that is stopped within loses its locks after a moment, for others wait.
 * An operator may trade durability for speed elsewhere; here commits are durable.
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
    // In what state the connection is nobody knows: closing it rolls back.
    client?.release(true);
    throw unavailable(error);
  }
}

/** Brings the tables up to date; of several nodes that start at once one does it. */
export async function migrate(pool: pg.Pool, url: string): Promise<void> {
  await pool.query("SELECT 1").catch((error: unknown) => {
    throw connectError(url, error);
  });
  await transaction(pool, MIGRATION_LOCK, async (client) => {
    await client.query(
      "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, name text NOT NULL)",
    );
    const { rows } = await client.query<{ number: number }>("SELECT number FROM migrations");
    const done = rows.map(({ number }) => number);
    for (const { number, name, sql } of migrationsToRun(
      migrationsOf("postgres"),
      done,
      placeOf(url),
    )) {
      await client.query(sql);
      await client.query("INSERT INTO migrations (number, name) VALUES ($1, $2)", [number, name]);
    }
  });
}

/** "jous": another program's advisory locks are others. */
const LOCK_SPACE = 0x6a6f7573;

/** Waits until no other transaction holds it, and holds it until this one's end is visible to all. */
function lock(number: number): string {
  return `SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${number})`;
}

/** Whoever appends holds this one, so positions are given in the order of commits. */
export const APPEND_LOCK = lock(1);
const MIGRATION_LOCK = lock(2);

/** The address without its password. */
function placeOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return "--database";
  }
}

/** What passes while a gateway runs is the operator's to mend before it has begun. */
function connectError(url: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : "";
  const remedy = REMEDIES[code];
  if (remedy) return new InputError({ file: placeOf(url) }, error.message, remedy);
  if (!(unavailable(error) instanceof StoreUnavailable)) return error;
  // Of a host with two addresses the error has no message of its own.
  const problem = `cannot be reached: ${error.message || code}`;
  return new InputError({ file: placeOf(url) }, problem, UNREACHABLE);
}

const UNREACHABLE = "start the database, or check host and port of the address";

const REMEDIES: Record<string, string> = {
  ENOTFOUND: "check the host of the address",
  "28P01": "check user and password of the address",
  "28000": "check user and password of the address",
  "3D000": "create the database first: createdb NAME",
  "42501": "the user needs the right to create tables: GRANT CREATE ON SCHEMA public TO NAME",
};

/**
 * Connection lost or refused, time-outs, shutdown, out of disk or memory, too
 * many connections, a standby that takes no writes: all pass, and nothing was
 * acknowledged. Anything else is an error of ours.
 */
export function unavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  const code = "code" in error ? String(error.code) : "";
  const passing =
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|08|53|57|58|55P03|40|25006|25P0)/.test(
      code,
    ) || /connection|timeout|terminat|not queryable|pool after/i.test(error.message);
  return passing ? new StoreUnavailable(error.message) : error;
}
