import {
  isBeforeHorizon,
  receiptOfUsedBallot,
  VOTES_PER_DECISION,
  withBoundedWeight,
} from "../ballot.ts";
import { AppendedChanges } from "../changes.ts";
import type { LogEvent, Voted } from "../events.ts";
import { COMMENT_PREFIX, checksumOf, rowOf } from "../row.ts";
import type { Change, Receipt } from "../store.ts";
import type { Connection } from "./connect.ts";
import { counter } from "./counts.ts";

export interface AppendResult {
  readonly receipts: Receipt[];
  readonly changes: Change[];
}

/** Prepares appending in one transaction. SQLite has one writer at a time, so positions follow the order of commits. */
export function appender(db: Connection): (events: readonly LogEvent[]) => AppendResult {
  const count = counter(db);
  const log = inserter(db);
  const earlier = db.prepare<[string, string], string>(
    "SELECT body FROM log WHERE kind = 'voted' AND decision = ? AND ballot = ?",
  );
  const others = db.prepare<[string], number>(`
    SELECT count(*) FROM (
      SELECT 1 FROM log WHERE kind = 'voted' AND decision = ? AND ballot NOT LIKE '${COMMENT_PREFIX}%'
      LIMIT ${VOTES_PER_DECISION})`);
  const horizonAt = db.prepare<[string], number>(
    "SELECT s.at FROM horizons h JOIN snapshots s USING (router, position) WHERE router = ?",
  );

  const append = db.transaction((events: readonly LogEvent[]): AppendResult => {
    const counted: Voted[] = [];
    const changes = new AppendedChanges();
    const receipts = events.map((event): Receipt => {
      let row = rowOf(event);
      if (event.kind === "voted") {
        const used = earlier.pluck().get(row.decision!, row.ballot!);
        if (used !== undefined) return receiptOfUsedBallot(event, used);
        if (isBeforeHorizon(event, horizonAt.pluck().get(event.router))) {
          return { status: "refused", reason: "unknown" };
        }
        row = rowOf(withBoundedWeight(event, others.pluck().get(row.decision!)!));
        counted.push(event);
      }
      const position = log(row);
      changes.add(event.router, position);
      return { status: "logged", position };
    });
    count(counted);
    return { receipts, changes: changes.list() };
  });
  return append.immediate;
}

/** Prepares inserting a row with the checksum of its content and position. Returns the position. */
export function inserter(db: Connection): (row: ReturnType<typeof rowOf>) => number {
  const next = db.prepare<[], number>(
    "SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'log'",
  );
  const insert = db.prepare(`
    INSERT INTO log (position, router, kind, at, decision, ballot, voter, x, body, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  return (row) => {
    const position = next.pluck().get()!;
    const { router, kind, at, decision, ballot, voter, x, body } = row;
    const checksum = checksumOf({ ...row, position });
    insert.run(position, router, kind, at, decision, ballot, voter, x, body, checksum);
    return position;
  };
}
