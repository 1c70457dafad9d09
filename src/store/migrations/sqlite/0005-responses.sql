-- Responses that clients may read and continue by their id, sealed like prompts.
CREATE TABLE responses (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX responses_until ON responses (until);
