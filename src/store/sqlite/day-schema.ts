import { COUNTS } from "../tally.ts";
import type { Connection } from "./connect.ts";

/** Tables of the file of one day. There are no migrations: a change of this schema applies to new days, except for counts. */
export const DAY_SCHEMA = `
  CREATE TABLE IF NOT EXISTS decisions (
    id TEXT PRIMARY KEY,
    router TEXT NOT NULL,
    at INTEGER NOT NULL,
    owner TEXT,
    session TEXT,
    x BLOB NOT NULL,
    prompt BLOB,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS decisions_router ON decisions (router, at, id);
  CREATE INDEX IF NOT EXISTS decisions_owner ON decisions (owner, at, id) WHERE owner IS NOT NULL;
  CREATE INDEX IF NOT EXISTS decisions_session ON decisions (session, at, id)
    WHERE session IS NOT NULL;

  CREATE TABLE IF NOT EXISTS answers (
    decision TEXT NOT NULL,
    slot INTEGER NOT NULL,
    router TEXT NOT NULL,
    at INTEGER NOT NULL,
    owner TEXT,
    body TEXT NOT NULL,
    PRIMARY KEY (decision, slot)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS tallies (
    router TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    model TEXT NOT NULL,
    ${COUNTS.map((name) => `${name} REAL NOT NULL`).join(", ")},
    PRIMARY KEY (router, bucket, model)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS spending (
    owner TEXT NOT NULL,
    month TEXT NOT NULL,
    cost REAL NOT NULL,
    PRIMARY KEY (owner, month)
  ) STRICT, WITHOUT ROWID;`;

/** Adds the counts that the file of a day of an older version does not have. */
export function addMissingCounts(db: Connection): void {
  const columns = db
    .prepare<[], string>("SELECT name FROM pragma_table_info('tallies')")
    .pluck()
    .all();
  for (const name of COUNTS) {
    if (columns.includes(name)) continue;
    db.exec(`ALTER TABLE tallies ADD COLUMN ${name} REAL NOT NULL DEFAULT 0`);
  }
}
