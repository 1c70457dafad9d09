-- Revisions of the configuration that is managed in the store. `document` holds no secret; `sealed` holds the
-- keys of providers, encrypted.
CREATE TABLE configurations (
  revision bigint PRIMARY KEY,
  at bigint NOT NULL,
  document text NOT NULL,
  sealed bytea NOT NULL
);

-- Changes that operators made. Ids are in the order of time.
CREATE TABLE audit (
  id text PRIMARY KEY,
  body text NOT NULL
);

-- Sessions of the page that ended before their time.
CREATE TABLE ended_sessions (
  id text PRIMARY KEY,
  until bigint NOT NULL
);

-- Processes that serve this database, with the time of their last sign of life.
CREATE TABLE nodes (
  id text PRIMARY KEY,
  seen bigint NOT NULL,
  body text NOT NULL
);
