-- Votes and controls stay in the log. Decisions and answers move into one file per day in the
-- background (sqlite/legacy.ts), which then drops legacy_log and prompts.
ALTER TABLE log RENAME TO legacy_log;

-- Rows are never changed. AUTOINCREMENT: a position is not given again after its row was deleted.
CREATE TABLE log (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  router TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  decision TEXT,
  ballot TEXT,
  voter TEXT,
  x BLOB,
  body TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;

-- Votes of voters that were forgotten later are erased, and their names with them.
INSERT INTO log
  SELECT position, router, kind, at, decision, ballot, voter, x, body,
         log_checksum(position, router, kind, at, decision, ballot, voter, x, body)
  FROM (
    SELECT position, router, kind, at, decision, 'voter:' || voter AS ballot, voter, x,
           CASE kind WHEN 'voter_forgotten' THEN '{"votes":0}' ELSE body END AS body
    FROM legacy_log l
    WHERE kind NOT IN ('routed', 'answered')
      AND NOT (kind = 'voted' AND EXISTS (
        SELECT 1 FROM legacy_log f
        WHERE f.kind NOT IN ('routed', 'answered', 'voted') AND f.kind = 'voter_forgotten'
          AND f.router = l.router AND f.position > l.position
          AND json_extract(f.body, '$.voter') = l.voter))
  ) ORDER BY position;
UPDATE sqlite_sequence
  SET seq = (SELECT max(seq) FROM sqlite_sequence WHERE name IN ('log', 'legacy_log'))
  WHERE name = 'log';

-- One ballot is one vote: sending it again after a broken connection changes nothing.
CREATE UNIQUE INDEX log_ballots ON log (decision, ballot) WHERE kind = 'voted';
CREATE INDEX log_router ON log (router, position);
CREATE INDEX log_only_controls ON log (router, position) WHERE kind <> 'voted';

DELETE FROM snapshots WHERE EXISTS (
    SELECT 1 FROM log f WHERE f.kind <> 'voted' AND f.kind = 'voter_forgotten'
      AND f.router = snapshots.router AND f.position > snapshots.position)
  AND NOT EXISTS (
    SELECT 1 FROM horizons h WHERE h.router = snapshots.router AND h.position = snapshots.position);
-- CRC-32 of the state.
ALTER TABLE snapshots ADD COLUMN checksum INTEGER;

-- Embeddings that are too large for a vote token, in half precision.
CREATE TABLE embeddings (
  decision TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  x BLOB NOT NULL
) STRICT;
CREATE INDEX embeddings_until ON embeddings (until);

-- Days whose counts are in the tables above although their file may still exist.
CREATE TABLE dropped_days (
  day INTEGER PRIMARY KEY
) STRICT;

-- Rows of legacy_log below this position still have to be moved.
CREATE TABLE legacy_progress (
  position INTEGER NOT NULL
) STRICT;
INSERT INTO legacy_progress SELECT coalesce(max(position), 0) + 1 FROM legacy_log;
