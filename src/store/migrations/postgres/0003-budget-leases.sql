-- The parts of a key's budget that nodes hold. `spent` is what the node has spent in the month.
CREATE TABLE budget_leases (
  owner text NOT NULL,
  month text NOT NULL,
  node text NOT NULL,
  held double precision NOT NULL,
  spent double precision NOT NULL,
  until bigint NOT NULL,
  PRIMARY KEY (owner, month, node)
);
