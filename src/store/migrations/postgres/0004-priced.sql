-- Counts for the comparison with "always one model", and of calls that another model took over.
ALTER TABLE tallies ADD COLUMN fallbacks double precision NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN priced double precision NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN always_cost double precision NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN always_doubt double precision NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN expected double precision NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN residual_sq double precision NOT NULL DEFAULT 0;
