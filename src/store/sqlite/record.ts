import { type AnswerRow, answerOf, type DecisionRow, decisionOf } from "../decision-row.ts";
import { spending, tally } from "../tally.ts";
import type { DayBatch } from "./batch.ts";
import type { Connection } from "./connect.ts";
import { spendingAdder, tallyAdder } from "./counts.ts";
import type { DayFiles } from "./days.ts";

/** Writes decisions and answers into the files of their days, one transaction per day. */
export function record(days: DayFiles, batches: readonly DayBatch[]): void {
  for (const batch of batches) days.use(batch.day, (db) => write(db)(batch));
}

type Write = (batch: DayBatch) => void;
const PREPARED = new WeakMap<Connection, Write>();

/** Prepares writing to a file once. */
function write(db: Connection): Write {
  const known = PREPARED.get(db);
  if (known) return known;
  const insert = inserter(db);
  const [addTallies, addSpending] = [tallyAdder(db), spendingAdder(db)];
  const run = db.transaction<Write>((batch) => {
    const rows = rowsOf(batch);
    const isNew = rows.map(insert);
    if (!isNew.includes(false)) {
      addTallies(batch.all.tallies);
      addSpending(batch.all.spending);
      return;
    }
    // Rows that were stored already, by an attempt whose result was lost, are not counted again.
    const stored = rows
      .filter((_, i) => isNew[i])
      .map((row) => ("slot" in row ? answerOf(row) : decisionOf(row)));
    addTallies([...tally(stored), ...batch.countedOnly.tallies]);
    addSpending([...spending(stored), ...batch.countedOnly.spending]);
  });
  PREPARED.set(db, run.immediate);
  return run.immediate;
}

function rowsOf({ day, decisions, answers, vectors }: DayBatch): (DecisionRow | AnswerRow)[] {
  let start = 0;
  const rows: (DecisionRow | AnswerRow)[] = [];
  for (const [id, router, at, owner, session, prompt, body, end] of decisions) {
    const x = vectors.subarray(start, end);
    rows.push({ day, id, router, at, owner, session, x, prompt, body });
    start = end;
  }
  for (const [decision, slot, router, at, owner, body] of answers) {
    rows.push({ day, decision, slot, router, at, owner, body });
  }
  return rows;
}

/** Prepares inserting a row. Returns false if it was stored already. */
export function inserter(db: Connection): (row: DecisionRow | AnswerRow) => boolean {
  const decision = db.prepare(`
    INSERT INTO decisions (id, router, at, owner, session, x, prompt, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const answer = db.prepare(`
    INSERT INTO answers (decision, slot, router, at, owner, body)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  return (row) => {
    if ("slot" in row) {
      const { decision: id, slot, router, at, owner, body } = row;
      return answer.run(id, slot, router, at, owner, body).changes === 1;
    }
    const { id, router, at, owner, session, x, prompt, body } = row;
    return decision.run(id, router, at, owner, session, x, prompt, body).changes === 1;
  };
}
