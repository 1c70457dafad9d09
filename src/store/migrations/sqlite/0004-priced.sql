-- Counts for the comparison with "always one model", and of calls that another model took over.
ALTER TABLE tallies ADD COLUMN fallbacks REAL NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN priced REAL NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN always_cost REAL NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN always_doubt REAL NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN expected REAL NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN residual_sq REAL NOT NULL DEFAULT 0;
