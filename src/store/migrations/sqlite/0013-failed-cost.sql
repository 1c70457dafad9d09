-- Part of the cost that was paid for calls that failed.
ALTER TABLE tallies ADD COLUMN failed_cost REAL NOT NULL DEFAULT 0;
