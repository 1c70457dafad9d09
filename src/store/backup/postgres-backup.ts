import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import pg from "pg";
import { InputError } from "../../core/input/input-error.ts";
import { configOf, poolOf } from "../postgres/connect.ts";
import { Partitions } from "../postgres/days.ts";
import { openPostgres } from "../postgres/open.ts";
import { checksumOf, type LoggedRow } from "../row.ts";
import { createPrivately } from "../sqlite/connect.ts";
import { DAY_SCHEMA } from "../sqlite/day-schema.ts";
import { daysIn, fileOf, folderOf } from "../sqlite/days.ts";
import { SqliteStore } from "../sqlite/sqlite-store.ts";
import { checkBackup, MAIN, type Manifest, type OnFile, writeManifest } from "./manifest.ts";
import { createFolder } from "./sqlite-backup.ts";
import { DAY_TABLES, MAIN_TABLES, type Table } from "./tables.ts";

/** Number of rows that are read or written at a time. */
const PAGE = 500;

type Row = Readonly<Record<string, unknown>>;

/**
 * Copies a database, while it is in use, into the SQLite files of a backup. All rows are
 * read in one transaction, so the copy shows the database at one moment.
 */
export async function backUpPostgres(
  url: string,
  folder: string,
  onFile: OnFile = () => {},
): Promise<Manifest> {
  const at = new Date().toISOString();
  const store = await openPostgres(url);
  await store.migrated();
  await store.close();
  createFolder(folder);
  const file = join(folder, MAIN);
  onFile(file);
  await new SqliteStore(file, Date.now).close();
  return inTransaction(url, "REPEATABLE READ READ ONLY", async (client) => {
    const last = await client.query<{ position: number }>(
      `SELECT greatest(
         (SELECT max(position) FROM log),
         pg_sequence_last_value(pg_get_serial_sequence('log', 'position')::regclass),
         0) AS position`,
    );
    const { position } = last.rows[0]!;
    await intoFile(file, async (db) => {
      for (const table of MAIN_TABLES) await copyOut(client, table, table.name, db);
      db.prepare("DELETE FROM sqlite_sequence WHERE name = 'log'").run();
      db.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES ('log', ?)").run(position);
    });
    const days = await client.query<{ day: number }>(
      "SELECT day FROM decisions UNION SELECT day FROM answers ORDER BY day",
    );
    for (const { day } of days.rows) {
      mkdirSync(folderOf(file), { recursive: true, mode: 0o700 });
      onFile(fileOf(folderOf(file), day));
      await intoFile(fileOf(folderOf(file), day), async (db) => {
        db.exec(DAY_SCHEMA);
        for (const table of DAY_TABLES) await copyOut(client, table, `${table.name}_${day}`, db);
      });
    }
    return writeManifest(folder, at, position);
  });
}

/** Copies a table of PostgreSQL into a file, page by page. */
async function copyOut(
  client: pg.Client,
  { name, columns, sums = [] }: Table,
  source: string,
  db: Sqlite.Database,
): Promise<void> {
  const totals = sums.map((sum) => `sum(${sum})::double precision AS ${sum}`);
  const groups = sums.length > 0 ? `GROUP BY ${columns.join(", ")}` : "";
  const all = [...columns, ...sums];
  const extra = name === "log" ? ["checksum"] : [];
  const insert = db.prepare(
    `INSERT INTO ${name} (${[...all, ...extra].join(", ")})
     VALUES (${[...all, ...extra].map(() => "?").join(", ")})`,
  );
  const write = db.transaction((rows: readonly Row[]) => {
    for (const row of rows) {
      const values = all.map((column) => row[column]);
      if (name === "log") values.push(checksumOf(row as unknown as LoggedRow));
      insert.run(...values);
    }
  });
  await client.query(
    `DECLARE page CURSOR FOR SELECT ${[...columns, ...totals].join(", ")} FROM ${source} ${groups}
     ORDER BY ${columns.slice(0, 2).join(", ")}`,
  );
  for (;;) {
    const { rows } = await client.query<Row>(`FETCH ${PAGE} FROM page`);
    if (rows.length === 0) break;
    write(rows);
  }
  await client.query("CLOSE page");
}

/** Copies a checked backup into an empty database, in one transaction. */
export async function restorePostgres(
  backup: string,
  url: string,
  onFile: OnFile = () => {},
): Promise<Manifest> {
  const manifest = await checkBackup(backup, onFile);
  const store = await openPostgres(url);
  const main = join(backup, MAIN);
  const days = daysIn(folderOf(main));
  try {
    const isUsed = (await store.routers()).length > 0 || (await store.keys()).length > 0;
    if (isUsed) {
      const hint = "restore into a new database: createdb NAME";
      throw new InputError({ file: "--database" }, "is not empty", hint);
    }
  } finally {
    await store.close();
  }
  const pool = poolOf(url);
  await new Partitions(pool).ensure(days).finally(() => pool.end());
  await inTransaction(url, "READ COMMITTED", async (client) => {
    await fromFile(main, async (db) => {
      for (const table of MAIN_TABLES) await copyIn(client, table, db);
    });
    await client.query("SELECT setval(pg_get_serial_sequence('log', 'position'), $1, true)", [
      Math.max(1, manifest.position),
    ]);
    for (const day of days) {
      onFile(fileOf(folderOf(main), day));
      await fromFile(fileOf(folderOf(main), day), async (db) => {
        for (const table of DAY_TABLES) await copyIn(client, table, db, day);
        for (const name of ["tallies", "spending"]) {
          await copyIn(client, MAIN_TABLES.find((table) => table.name === name)!, db);
        }
      });
    }
  });
  return manifest;
}

/** Copies a table of a file into PostgreSQL, page by page. Counts are added to those that are there. */
async function copyIn(
  client: pg.Client,
  { name, columns, sums = [], computed }: Table,
  db: Sqlite.Database,
  day?: number,
): Promise<void> {
  const stored = [...columns, ...sums];
  const all = [...stored, ...(computed?.columns ?? [])];
  const fixed = day === undefined ? [] : ["day"];
  const added = sums.map((sum) => `${sum} = old.${sum} + excluded.${sum}`).join(", ");
  const conflict =
    sums.length > 0 ? `ON CONFLICT (${columns.join(", ")}, shard) DO UPDATE SET ${added}` : "";
  const write = async (rows: readonly Row[]) => {
    if (rows.length === 0) return;
    let n = 0;
    const tuples = rows.map(
      () => `(${[...fixed.map(() => String(day)), ...all.map(() => `$${++n}`)].join(", ")})`,
    );
    await client.query(
      `INSERT INTO ${name} AS old (${[...fixed, ...all].join(", ")})
       VALUES ${tuples.join(", ")} ${conflict}`,
      rows.flatMap((row) => all.map((column) => row[column])),
    );
  };
  let page: Row[] = [];
  for (const row of db.prepare<[], Row>(`SELECT ${stored.join(", ")} FROM ${name}`).iterate()) {
    page.push(computed ? ({ ...row, ...computed.of(row) } as Row) : row);
    if (page.length < PAGE) continue;
    await write(page);
    page = [];
  }
  await write(page);
}

async function inTransaction<T>(
  url: string,
  level: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(configOf(url));
  await client.connect();
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${level}`);
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } finally {
    await client.end();
  }
}

async function intoFile(file: string, work: (db: Sqlite.Database) => Promise<void>): Promise<void> {
  createPrivately(file);
  const db = new Sqlite(file);
  try {
    await work(db);
  } finally {
    db.close();
  }
}

async function fromFile(file: string, work: (db: Sqlite.Database) => Promise<void>): Promise<void> {
  const db = new Sqlite(file, { readonly: true });
  try {
    await work(db);
  } finally {
    db.close();
  }
}
