-- Ids that clients chose for their requests. An id is unique per API key ("" without a key).
CREATE TABLE client_ids (
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  decision TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_ids_until ON client_ids (until);
