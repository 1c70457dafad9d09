-- Rows are never changed. AUTOINCREMENT: a position is not given again after its row was pruned.
CREATE TABLE log (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  router TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  decision TEXT,
  slot INTEGER,
  voter TEXT,
  owner TEXT,
  session TEXT,
  x BLOB,
  body TEXT NOT NULL
) STRICT;

-- Each event is stored once: sending it again after a broken connection changes nothing.
CREATE UNIQUE INDEX log_routed ON log (decision) WHERE kind = 'routed';
CREATE UNIQUE INDEX log_answered ON log (decision, slot) WHERE kind = 'answered';
CREATE UNIQUE INDEX log_voted ON log (decision, voter) WHERE kind = 'voted';

-- Votes and controls, which a learner reads without the decisions between them; and controls alone.
CREATE INDEX log_learning ON log (router, position) WHERE kind NOT IN ('routed', 'answered');
CREATE INDEX log_controls ON log (router, position)
  WHERE kind NOT IN ('routed', 'answered', 'voted');
CREATE INDEX log_learning_at ON log (router, at) WHERE kind NOT IN ('routed', 'answered');

-- Pages of decisions.
CREATE INDEX log_decisions ON log (router, position) WHERE kind = 'routed';
CREATE INDEX log_owner ON log (owner, position) WHERE kind = 'routed' AND owner IS NOT NULL;
CREATE INDEX log_session ON log (session, position) WHERE kind = 'routed' AND session IS NOT NULL;

CREATE TABLE prompts (
  decision TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT;
CREATE INDEX prompts_at ON prompts (at);

CREATE TABLE tallies (
  router TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  model TEXT NOT NULL,
  shown INTEGER NOT NULL,
  duels INTEGER NOT NULL,
  answers INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost REAL NOT NULL,
  latency_ms REAL NOT NULL,
  votes INTEGER NOT NULL,
  wins INTEGER NOT NULL,
  ties INTEGER NOT NULL,
  both_bad INTEGER NOT NULL,
  ratings INTEGER NOT NULL,
  rating_sum REAL NOT NULL,
  PRIMARY KEY (router, bucket, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE spending (
  owner TEXT NOT NULL,
  month TEXT NOT NULL,
  cost REAL NOT NULL,
  PRIMARY KEY (owner, month)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
  router TEXT NOT NULL,
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  hash TEXT NOT NULL,
  state BLOB NOT NULL,
  PRIMARY KEY (router, position)
) STRICT;

CREATE TABLE leases (
  router TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  token INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;

CREATE TABLE horizons (
  router TEXT PRIMARY KEY,
  position INTEGER NOT NULL
) STRICT;

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  body TEXT NOT NULL
) STRICT;

CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;
