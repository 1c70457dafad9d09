-- Responses that clients may read and continue by their id, sealed like prompts.
CREATE TABLE responses (
  id text PRIMARY KEY,
  owner text NOT NULL,
  until bigint NOT NULL,
  body bytea NOT NULL
);
CREATE INDEX responses_until ON responses (until);
