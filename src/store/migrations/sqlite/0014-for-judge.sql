-- Answers that were made for a judge, so that no client received them.
ALTER TABLE tallies ADD COLUMN for_judge REAL NOT NULL DEFAULT 0;
