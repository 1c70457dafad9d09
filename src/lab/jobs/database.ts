/** The part of a PostgreSQL database that machines working on one plan share. */
import pg from "pg";
import { InputError } from "../../core/input/input-error.ts";
import type { PlainError } from "../../core/threads/plain-error.ts";
import type { FileRef, Result } from "./job.ts";
import { digestOf } from "./store.ts";

/** Name of the tasks in graphile-worker's queue. */
export const TASK_NAME = "joust";

/** Number of seconds without a heartbeat after which a worker counts as dead. */
export const HEARTBEAT_LIMIT = 20;

/** Only one of several processes that start at once creates the tables. */
const LOCK = "SELECT pg_advisory_xact_lock(1785689459, 3)";

const TABLES = `
CREATE SCHEMA IF NOT EXISTS joust_jobs;
CREATE TABLE IF NOT EXISTS joust_jobs.results (
  key text PRIMARY KEY, digest text NOT NULL, value text NOT NULL, columns integer, matrix bytea);
CREATE TABLE IF NOT EXISTS joust_jobs.files (
  sha256 text PRIMARY KEY, name text NOT NULL, bytes bytea NOT NULL);
CREATE TABLE IF NOT EXISTS joust_jobs.failures (key text PRIMARY KEY, failure jsonb NOT NULL);
CREATE TABLE IF NOT EXISTS joust_jobs.beats (worker text PRIMARY KEY, seen timestamptz NOT NULL);
`;

/** Results, data files, failures and heartbeats of workers. */
export class JobDatabase {
  readonly pool: pg.Pool;

  private constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  static async open(url: string): Promise<JobDatabase> {
    const pool = new pg.Pool({ connectionString: url, max: 10, application_name: "joust work" });
    // The pool replaces broken connections, and the next query reports the error.
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    try {
      await pool.query(`BEGIN; ${LOCK}; ${TABLES} COMMIT`);
    } catch (error) {
      await pool.end();
      throw connectError(url, error);
    }
    return new JobDatabase(pool);
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  async find(key: string): Promise<string | undefined> {
    return (await this.digests([key])).get(key);
  }

  /** Digests of those results that exist. */
  async digests(keys: readonly string[]): Promise<Map<string, string>> {
    const { rows } = await this.pool.query<{ key: string; digest: string }>(
      "SELECT key, digest FROM joust_jobs.results WHERE key = ANY($1)",
      [keys],
    );
    return new Map(rows.map(({ key, digest }) => [key, digest]));
  }

  async get(key: string): Promise<Result> {
    const { rows } = await this.pool.query<{
      value: string;
      columns: number | null;
      matrix: Buffer | null;
    }>("SELECT value, columns, matrix FROM joust_jobs.results WHERE key = $1", [key]);
    const [row] = rows;
    if (!row) throw new Error(`no result ${key} in the database`);
    const value: unknown = JSON.parse(row.value);
    if (row.matrix === null || row.columns === null) return { value };
    const data = new Float32Array(new Uint8Array(row.matrix).buffer); // a copy is aligned
    return { value, matrix: { columns: row.columns, data } };
  }

  /** A second result of the same key is equal to the first and is ignored. */
  async put(key: string, { value, matrix }: Result): Promise<void> {
    const bytes =
      matrix && Buffer.from(matrix.data.buffer, matrix.data.byteOffset, matrix.data.byteLength);
    await this.pool.query(
      "INSERT INTO joust_jobs.results VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
      [
        key,
        digestOf({ value, matrix }),
        JSON.stringify(value),
        matrix?.columns ?? null,
        bytes ?? null,
      ],
    );
  }

  async putFile({ sha256, name }: FileRef, read: () => Promise<Buffer>): Promise<void> {
    const { rowCount } = await this.pool.query("SELECT FROM joust_jobs.files WHERE sha256 = $1", [
      sha256,
    ]);
    if (rowCount) return;
    await this.pool.query(
      "INSERT INTO joust_jobs.files VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [sha256, name, await read()],
    );
  }

  async getFile({ sha256, name }: FileRef): Promise<Buffer> {
    const { rows } = await this.pool.query<{ bytes: Buffer }>(
      "SELECT bytes FROM joust_jobs.files WHERE sha256 = $1",
      [sha256],
    );
    if (rows[0]) return rows[0].bytes;
    throw new Error(`${name} with the checksum ${sha256} is not in the database`);
  }

  async putFailure(key: string, error: PlainError): Promise<void> {
    await this.pool.query(
      "INSERT INTO joust_jobs.failures VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET failure = excluded.failure",
      [key, JSON.stringify(error)],
    );
  }

  async failures(keys: readonly string[]): Promise<Map<string, PlainError>> {
    const { rows } = await this.pool.query<{ key: string; failure: PlainError }>(
      "SELECT key, failure FROM joust_jobs.failures WHERE key = ANY($1)",
      [keys],
    );
    return new Map(rows.map(({ key, failure }) => [key, failure]));
  }

  async deleteFailure(key: string): Promise<void> {
    await this.pool.query("DELETE FROM joust_jobs.failures WHERE key = $1", [key]);
  }

  /** Records that these workers are alive. */
  async heartbeat(workers: readonly string[]): Promise<void> {
    await this.pool.query(
      "INSERT INTO joust_jobs.beats SELECT unnest($1::text[]), now() ON CONFLICT (worker) DO UPDATE SET seen = now()",
      [workers],
    );
  }

  /** Workers that hold jobs and have sent no heartbeat for too long. */
  async deadWorkers(): Promise<string[]> {
    const { rows } = await this.pool.query<{ locked_by: string }>(
      `SELECT DISTINCT jobs.locked_by
       FROM graphile_worker.jobs LEFT JOIN joust_jobs.beats ON beats.worker = jobs.locked_by
       WHERE jobs.task_identifier = $1 AND jobs.locked_by IS NOT NULL
         AND coalesce(beats.seen, jobs.locked_at) < now() - make_interval(secs => $2)`,
      [TASK_NAME, HEARTBEAT_LIMIT],
    );
    return rows.map(({ locked_by }) => locked_by);
  }
}

function connectError(url: string, error: unknown): unknown {
  const reason = error instanceof Error ? error.message : String(error);
  const place = URL.parse(url);
  const file = place ? `${place.host}${place.pathname}` : "--workers";
  return new InputError({ file }, reason, "give --workers postgres://user:password@host/database");
}
