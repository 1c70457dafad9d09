-- Names of voters in order, and the votes of each; comments are not votes.
CREATE INDEX log_voters ON log (router, voter, position)
  WHERE voter IS NOT NULL AND (ballot IS NULL OR substr(ballot, 1, 8) <> 'comment:');
