import { COUNTS } from "../tally.ts";
import type { Connection } from "./connect.ts";

/** Tables of the file of one day. There are no migrations: `completeDay` adds what the file of an older version lacks. */
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

/** Columns of answers by which requests are searched. They are computed from the body and take no space of their own. */
const SEARCHED = {
  model: "TEXT GENERATED ALWAYS AS (body ->> '$.model')",
  /** 'failed', 'cancelled', 'fallback' if another model had failed before, or NULL. */
  outcome: `TEXT GENERATED ALWAYS AS (CASE
    WHEN body ->> '$.status' <> 'ok' THEN body ->> '$.status'
    WHEN body ->> '$.fallbacks' IS NOT NULL THEN 'fallback' END)`,
  cost: "REAL GENERATED ALWAYS AS (body ->> '$.cost')",
  latency_ms: "REAL GENERATED ALWAYS AS (body ->> '$.latencyMs')",
};

const SEARCH_INDEXES = `
  CREATE INDEX IF NOT EXISTS decisions_at ON decisions (at, id);
  CREATE INDEX IF NOT EXISTS answers_model ON answers (model);
  CREATE INDEX IF NOT EXISTS answers_outcome ON answers (outcome) WHERE outcome IS NOT NULL;
  CREATE INDEX IF NOT EXISTS answers_cost ON answers (cost);
  CREATE INDEX IF NOT EXISTS answers_latency ON answers (latency_ms);`;

/** Adds the counts, the searched columns and the indexes that a file does not have. */
export function completeDay(db: Connection): void {
  const columnsOf = (table: string) =>
    db.prepare<[string], string>("SELECT name FROM pragma_table_xinfo(?)").pluck().all(table);
  const counts = columnsOf("tallies");
  for (const name of COUNTS) {
    if (counts.includes(name)) continue;
    db.exec(`ALTER TABLE tallies ADD COLUMN ${name} REAL NOT NULL DEFAULT 0`);
  }
  const searched = columnsOf("answers");
  for (const [name, definition] of Object.entries(SEARCHED)) {
    if (!searched.includes(name)) db.exec(`ALTER TABLE answers ADD COLUMN ${name} ${definition}`);
  }
  db.exec(SEARCH_INDEXES);
}
