-- Rows are never changed. Positions are in the order of commits, since appenders hold a lock
-- (docs/decisions/0003-log-order-and-lease.md).
CREATE TABLE log (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  router text NOT NULL,
  kind text NOT NULL,
  at bigint NOT NULL,
  decision text,
  slot integer,
  voter text,
  owner text,
  session text,
  x bytea,
  body text NOT NULL
);

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
  decision text PRIMARY KEY,
  at bigint NOT NULL,
  sealed bytea NOT NULL
);
CREATE INDEX prompts_at ON prompts (at);

CREATE TABLE tallies (
  router text NOT NULL,
  bucket bigint NOT NULL,
  model text NOT NULL,
  shown bigint NOT NULL,
  duels bigint NOT NULL,
  answers bigint NOT NULL,
  failures bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost double precision NOT NULL,
  latency_ms double precision NOT NULL,
  votes bigint NOT NULL,
  wins bigint NOT NULL,
  ties bigint NOT NULL,
  both_bad bigint NOT NULL,
  ratings bigint NOT NULL,
  rating_sum double precision NOT NULL,
  PRIMARY KEY (router, bucket, model)
);

CREATE TABLE spending (
  owner text NOT NULL,
  month text NOT NULL,
  cost double precision NOT NULL,
  PRIMARY KEY (owner, month)
);

CREATE TABLE snapshots (
  router text NOT NULL,
  position bigint NOT NULL,
  at bigint NOT NULL,
  hash text NOT NULL,
  state bytea NOT NULL,
  PRIMARY KEY (router, position)
);

CREATE TABLE leases (
  router text PRIMARY KEY,
  holder text NOT NULL,
  token bigint NOT NULL,
  until bigint NOT NULL
);

CREATE TABLE horizons (
  router text PRIMARY KEY,
  position bigint NOT NULL
);

CREATE TABLE keys (
  id text PRIMARY KEY,
  body text NOT NULL
);

CREATE TABLE secrets (
  name text PRIMARY KEY,
  value bytea NOT NULL
);
