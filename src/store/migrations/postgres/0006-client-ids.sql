-- Ids that clients chose for their requests. An id is unique per API key ("" without a key).
CREATE TABLE client_ids (
  owner text NOT NULL,
  id text NOT NULL,
  decision text NOT NULL,
  until bigint NOT NULL,
  PRIMARY KEY (owner, id)
);
CREATE INDEX client_ids_until ON client_ids (until);
