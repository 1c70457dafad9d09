import { Appended } from "../changes.ts";
import { type LoggedRow, type Row, rowOf } from "../row.ts";
import { type Known, settle } from "../settle.ts";
import type { Change, Entry, Receipt } from "../store.ts";
import { COUNTS, spending, type Tallied, tally } from "../tally.ts";
import type { Connection } from "./connect.ts";

export interface AppendResult {
  readonly receipts: Receipt[];
  readonly changes: Change[];
}

/** Logs entries in one transaction. SQLite lets one writer in at a time, so positions are commit order. */
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
    const done: Tallied[] = [];
    const appended = new Appended();
    const log = (row: Row, event: Tallied): Receipt => {
      const { router, kind, at, decision, slot, voter, owner, session, x, body } = row;
      const { changes, lastInsertRowid } = insert.run(
        router,
        kind,
        at,
        decision,
        slot,
        voter,
        owner,
        session,
        x,
        body,
      );
      if (changes === 0) return { status: "repeated" };
      const position = Number(lastInsertRowid);
      done.push(event);
      appended.note(router, kind, position);
      return { status: "logged", position };
    };
    const receipts = entries.map((entry): Receipt => {
      if (entry.kind === "vote") {
        const settled = settle(entry, find(entry.decision));
        return settled.status === "new" ? log(settled.row, settled.vote) : settled;
      }
      if (entry.kind === "routed" && entry.prompt) {
        insertPrompt.run(entry.decision, entry.at, entry.prompt);
      }
      return log(rowOf(entry), entry);
    });
    count(done);
    return { receipts, changes: appended.changes() };
  });
  return append.immediate;
}

/** What is known of a decision when a vote on it comes. */
function finder(db: Connection): (decision: string) => Known {
  const routed = db.prepare<[string], LoggedRow>(
    "SELECT * FROM log WHERE kind = 'routed' AND decision = ?",
  );
  const answered = db.prepare<[string], LoggedRow>(
    "SELECT * FROM log WHERE kind = 'answered' AND decision = ?",
  );
  const voted = db.prepare<[string], Pick<Row, "voter" | "body">>(
    "SELECT voter, body FROM log WHERE kind = 'voted' AND decision = ?",
  );
  return (decision) => {
    const row = routed.get(decision);
    return {
      routed: new Map(row && [[decision, row]]),
      answered: new Map([[decision, answered.all(decision)]]),
      voted: new Map([[decision, voted.all(decision)]]),
    };
  };
}

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
