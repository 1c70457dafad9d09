-- The parts of a key's budget that nodes hold. `spent` is what the node has spent in the month.
CREATE TABLE budget_leases (
  owner TEXT NOT NULL,
  month TEXT NOT NULL,
  node TEXT NOT NULL,
  held REAL NOT NULL,
  spent REAL NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (owner, month, node)
) STRICT, WITHOUT ROWID;
