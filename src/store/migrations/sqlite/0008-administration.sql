-- Revisions of the configuration that is managed in the store. `document` holds no secret; `sealed` holds the
-- keys of providers, encrypted.
CREATE TABLE configurations (
  revision INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  document TEXT NOT NULL,
  sealed BLOB NOT NULL
) STRICT;

-- Changes that operators made. Ids are in the order of time.
CREATE TABLE audit (
  id TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions of the page that ended before their time.
CREATE TABLE ended_sessions (
  id TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Processes that serve this database, with the time of their last sign of life.
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  seen INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
