import { AppendedChanges } from "../changes.ts";
import { type LoggedRow, type Row, rowOf } from "../row.ts";
import { type DecisionRows, settle } from "../settle.ts";
import type { Change, Entry, Receipt } from "../store.ts";
import { COUNTS, spending, type Tallied, tally } from "../tally.ts";
import type { Connection } from "./connect.ts";

export interface AppendResult {
  readonly receipts: Receipt[];
  readonly changes: Change[];
}

/** Prepares appending in one transaction. SQLite has one writer at a time, so positions follow the order of commits. */
export function appender(db: Connection): (entries: readonly Entry[]) => AppendResult {
  const insert = db.prepare(`
    INSERT INTO log (router, kind, at, decision, slot, voter, owner, session, x, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`);
  const insertPrompt = db.prepare<[string, number, Uint8Array]>(
    "INSERT INTO prompts (decision, at, sealed) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const count = counter(db);
  const find = finder(db);

  const append = db.transaction((entries: readonly Entry[]): AppendResult => {
    const events: Tallied[] = [];
    const changes = new AppendedChanges();
    const log = (row: Row, event: Tallied): Receipt => {
      const { router, kind, at, decision, slot, voter, owner, session, x, body } = row;
      const values = [router, kind, at, decision, slot, voter, owner, session, x, body];
      const inserted = insert.run(...values);
      if (inserted.changes === 0) return { status: "repeated" };
      const position = Number(inserted.lastInsertRowid);
      events.push(event);
      changes.add(router, kind, position);
      return { status: "logged", position };
    };
    const receipts = entries.map((entry): Receipt => {
      if (entry.kind === "vote") {
        const settled = settle(entry, find(entry.decision));
        return settled.status === "new" ? log(settled.row, settled.vote) : settled;
      }
      if (entry.kind === "routed" && entry.prompt) {
        insertPrompt.run(entry.id, entry.at, entry.prompt);
      }
      return log(rowOf(entry), entry);
    });
    count(events);
    return { receipts, changes: changes.list() };
  });
  return append.immediate;
}

/** Prepares finding the rows of a decision when a vote arrives. */
function finder(db: Connection): (decision: string) => DecisionRows {
  const routed = db.prepare<[string], LoggedRow>(
    "SELECT * FROM log WHERE kind = 'routed' AND decision = ?",
  );
  const answered = db.prepare<[string], LoggedRow>(
    "SELECT * FROM log WHERE kind = 'answered' AND decision = ?",
  );
  const voted = db.prepare<[string], Pick<Row, "voter" | "body">>(
    "SELECT voter, body FROM log WHERE kind = 'voted' AND decision = ?",
  );
  return (decision) => ({
    routed: routed.get(decision),
    answered: answered.all(decision),
    voted: voted.all(decision),
  });
}

/** Prepares adding events to the tallies and to the spending of their keys. */
function counter(db: Connection): (events: readonly Tallied[]) => void {
  const add = db.prepare(`
    INSERT INTO tallies (router, bucket, model, ${COUNTS.join(", ")})
    VALUES (?, ?, ?, ${COUNTS.map(() => "?").join(", ")})
    ON CONFLICT DO UPDATE SET ${COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`);
  const spend = db.prepare(`
    INSERT INTO spending (owner, month, cost) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET cost = cost + excluded.cost`);
  return (events) => {
    for (const { router, bucket, model, counts } of tally(events)) {
      add.run(router, bucket, model, ...COUNTS.map((name) => counts[name]));
    }
    for (const { owner, month, cost } of spending(events)) spend.run(owner, month, cost);
  };
}
