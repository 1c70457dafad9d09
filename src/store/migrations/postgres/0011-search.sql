-- Number of decisions of each day, so that dropping a day need not count them. Each connection adds to
-- one of 64 rows, so that nodes rarely wait for each other.
CREATE TABLE day_sizes (
  day integer NOT NULL,
  shard integer NOT NULL,
  decisions bigint NOT NULL,
  PRIMARY KEY (day, shard)
);
INSERT INTO day_sizes SELECT day, 0, count(*) FROM decisions GROUP BY day;

CREATE FUNCTION count_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO day_sizes AS size (day, shard, decisions)
    SELECT day, pg_backend_pid() % 64, count(*) FROM added GROUP BY day ORDER BY day
    ON CONFLICT (day, shard) DO UPDATE SET decisions = size.decisions + excluded.decisions;
  RETURN NULL;
END $$;
CREATE TRIGGER count_decisions AFTER INSERT ON decisions
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_decisions();

-- Members of the body by which requests are searched. The outcome is 'failed', 'cancelled',
-- 'fallback' if another model had failed before, or NULL.
ALTER TABLE answers
  ADD COLUMN model text,
  ADD COLUMN outcome text,
  ADD COLUMN cost double precision,
  ADD COLUMN latency_ms double precision;
CREATE FUNCTION answer_member(body text, name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN body::json ->> name;
EXCEPTION WHEN OTHERS THEN
  -- PostgreSQL refuses some characters in JSON.
  RETURN NULL;
END $$;
UPDATE answers SET
  model = answer_member(body, 'model'),
  outcome = CASE
    WHEN answer_member(body, 'status') <> 'ok' THEN answer_member(body, 'status')
    WHEN answer_member(body, 'fallbacks') IS NOT NULL THEN 'fallback' END,
  cost = answer_member(body, 'cost')::double precision,
  latency_ms = answer_member(body, 'latencyMs')::double precision;
DROP FUNCTION answer_member;
CREATE INDEX decisions_at ON decisions (at, id);
CREATE INDEX answers_model ON answers (model);
CREATE INDEX answers_outcome ON answers (outcome) WHERE outcome IS NOT NULL;
CREATE INDEX answers_cost ON answers (cost);
CREATE INDEX answers_latency ON answers (latency_ms);
